"""What a network must do to stand behind a dimension; anything that can be called so will do.

A network is shown pixels in [0, 1] and normalises them itself: geometry is the dimension's affair, colours are the
network's. It may live on any device; what it returns is moved to the CPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor


class PictureFeatures(Protocol):
    """What is seen in pictures."""

    def __call__(self, pixels: Tensor, /) -> Tensor:
        """(B, 3, H, W) -> (B, E)."""
        ...


class PictureQuality(Protocol):
    """How good pictures look."""

    def __call__(self, pixels: Tensor, /) -> Tensor:
        """(B, 3, H, W) -> (B,), on the scale of the dimension: to 10 for aesthetics, to 100 for imaging."""
        ...


class Interpolation(Protocol):
    """What happened between two frames."""

    def __call__(self, before: Tensor, after: Tensor, /) -> Tensor:
        """Two of (1, 3, H, W), of any size -> the frame half way between them, likewise."""
        ...


class VideoAndText(Protocol):
    """What is seen in a video and what is said in a prompt, in one space."""

    def video(self, pixels: Tensor, /) -> Tensor:
        """Eight frames (8, 3, 224, 224) -> (E,)."""
        ...

    def text(self, prompt: str, /) -> Tensor:
        """A prompt -> (E,)."""
        ...


Backbone = PictureFeatures | PictureQuality | Interpolation | VideoAndText


@dataclass(frozen=True)
class Backbones:
    """The networks to score with."""

    networks: Mapping[str, Any]
    """A `Backbone` for each dimension that can be scored, by the dimension's name."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why there is none for another dimension."""
    proxy: bool = False
    """They are not the networks of PAI-Bench: their scores are called so."""
