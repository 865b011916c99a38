"""What a video world model must offer so that the gate can protect what it goes on from. The gate knows nothing else.

Frames are float32 in [0, 1], (H, W, 3) each, on the CPU; clips on disk are uint8, and `unit` and `pixels` go between.
Every draw comes from the generator that a call is given: the same generator, the same frames.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wiser import seeds

Pixels = NDArray[np.uint8]
"""(T, H, W, 3) in 0..255, or one frame without T."""
Draws = torch.Generator


class Predictor(Protocol):
    """A world model of what a camera shows."""

    @property
    def title(self) -> str:
        """What to call it in tables and on pages."""

    @property
    def about(self) -> dict[str, Any]:
        """Settings that its scores depend on: a calibration made with others is not valid for it."""

    @property
    def digest(self) -> str | None:
        """Of its weights; None if it has none."""

    def follow(self, frame: Tensor, count: int, draws: Draws) -> Tensor:
        """The next frames (count, H, W, 3) after this one, generated from it alone, with little effort: for scores."""

    def denoise(self, frame: Tensor, sigma: float, draws: Draws) -> Tensor:
        """D: encode a frame (H, W, 3), add noise of strength sigma in (0, 1), run the diffusion back, decode."""

    def rollout(self, frames: Tensor, count: int, draws: Draws) -> Tensor:
        """The next `count` frames (count, H, W, 3) after these (T, H, W, 3), T >= 1, as many as are there."""


@runtime_checkable
class Reconstructing(Protocol):
    """A predictor that also decodes what it was conditioned on, which the authors' own gate looks at."""

    def clip(self, frame: Tensor, steps: int, draws: Draws, strength: float | None = None) -> Tensor:
        """A decoded clip (T, H, W, 3) from one frame, which comes first.

        strength: begin at the latents of the frame, repeated, with that share of noise instead of at noise alone.
        """


def unit(frames: Pixels) -> Tensor:
    """Bytes as floats in [0, 1], for predictors."""
    return torch.from_numpy(np.ascontiguousarray(frames)).float() * (1 / 255)


def pixels(frames: Tensor) -> Pixels:
    """Floats in [0, 1] as bytes, for files and people; what `unit` made of bytes becomes the same again."""
    return (frames.clamp(0.0, 1.0) * 255.0).round().to(torch.uint8).numpy()


def draws_of(purpose: str, seed: int, *part: int) -> Draws:
    """Random numbers for one purpose, and one part of it, of a seed; independent of all others."""
    state = seeds.stream(purpose, seed, *part).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0]))
