"""Training agents: `train(stack(["nano", "pure", "dropout"]), folder, report)`, or `wiser train`."""

from wiser.train.config import TrainConfig, stack
from wiser.train.loop import train

__all__ = ["TrainConfig", "stack", "train"]
