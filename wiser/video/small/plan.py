"""What is trained, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SHIPPED = Path(__file__).parent / "weights"
"""Where the trained model is looked for."""
PICTURES = 9
"""Of a clip that the transformer learns from: three latents."""


@dataclass(frozen=True)
class Stage:
    """A part of the codec's course: steps, and what each of them is shown."""

    steps: int
    clips: int
    pictures: int
    side: int


@dataclass(frozen=True)
class Plan:
    """Of a run; by default what two CPU cores train."""

    base: int = 12
    """Channels of the codec's first convolution."""
    stages: tuple[Stage, ...] = (Stage(2400, 2, 9, 32), Stage(160, 1, 9, 64))
    """Windows of clips, then whole clips."""
    heads: int = 4
    layers: int = 4
    clips: int = 2000
    """That the transformer learns from."""
    steps: int = 4500
    """Of the transformer."""
    seed: int = 0
