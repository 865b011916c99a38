"""Learning a world model from sequences of experience."""

from wiser.train.losses import world_model_loss
from wiser.train.unroll import Sequences, Unrolled, observe
from wiser.train.warmstart import start_at_mean

__all__ = ["Sequences", "Unrolled", "observe", "start_at_mean", "world_model_loss"]
