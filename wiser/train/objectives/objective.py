"""What an objective is: what actor and critic pursue, and what of the environment they need to know for it."""

from __future__ import annotations

from typing import ClassVar

from wiser.train.parts import Part


class Objective(Part):
    """What is to be maximised. Critics, heads of further signals and multipliers are modules and buffers of its own."""

    signals: ClassVar[tuple[str, ...]] = ("reward",)
    """What it learns from: the reward, and further keys of the environment's `info`."""
