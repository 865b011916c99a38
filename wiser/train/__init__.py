"""Training agents: `train(stack(["nano", "pure", "dropout"]), folder, report)`, or `wiser train`."""

from typing import TYPE_CHECKING, Any

from wiser.train.config import TrainConfig, stack

if TYPE_CHECKING:
    from wiser.train.loop import train

__all__ = ["TrainConfig", "stack", "train"]


def __getattr__(name: str) -> Any:
    """Import the loop, and torch with it, when it is asked for: `wiser train --help` needs neither."""
    if name == "train":
        from wiser.train.loop import train

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
