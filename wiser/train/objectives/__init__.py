"""Objectives of training, one file each; `objective.py` says what they have in common."""

from wiser.train.objectives.objective import Objective
from wiser.train.objectives.ordinary import Ordinary
from wiser.train.objectives.safe import Safe
from wiser.train.parts import find

__all__ = ["OBJECTIVES", "Objective", "Ordinary", "Safe", "find_objective"]

OBJECTIVES: dict[str, type[Objective]] = {"ordinary": Ordinary, "safe": Safe}
"""By the name that `TrainConfig.objective` gives. Add your own."""


def find_objective(name: str) -> type[Objective]:
    """The objective of that name."""
    return find("objective", OBJECTIVES, name)
