"""Videos and predictors whose answers are known in advance."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from wiser.video.predictor import Draws, Pixels, pixels

SIDE = 16


def moving_blob(frames: int, seed: int) -> Pixels:
    """A bright disc that circles on a shaded ground, from a place of its own."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi) + 0.35 * np.arange(frames)
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    centre = SIDE / 2 + 4.0 * np.stack([np.sin(angle), np.cos(angle)])  # (2, T)
    far = (y - centre[0][:, None, None]) ** 2 + (x - centre[1][:, None, None]) ** 2  # (T, H, W)
    disc = np.exp(-far / 8.0)[..., None]
    ground = np.linspace(0.2, 0.5, SIDE)[:, None, None] * np.array([1.0, 0.8, 0.6])
    return pixels(torch.from_numpy(ground + disc * np.array([0.4, 0.3, 0.3])).float())


class Scripted:
    """Knows plain frames by their grey: what M of each is, and what D makes of it. Predictions are 1/1000 brighter."""

    title, digest = "scripted", None

    def __init__(self, score: dict[float, float], repaired: dict[float, float]) -> None:
        self.score, self.repaired = score, repaired
        self.rollouts: list[tuple[list[float], int]] = []

    @property
    def about(self) -> dict[str, Any]:
        return {}

    def follow(self, frame: Tensor, count: int, draws: Draws) -> Tensor:
        return (frame + self.score[grey(frame)] ** 0.5).expand(count, *frame.shape)

    def denoise(self, frame: Tensor, sigma: float, draws: Draws) -> Tensor:
        return torch.full_like(frame, self.repaired[grey(frame)])

    def rollout(self, frames: Tensor, count: int, draws: Draws) -> Tensor:
        self.rollouts.append(([grey(frame) for frame in frames], count))
        return torch.stack([frames[-1] + 0.001 * (step + 1) for step in range(count)])


def grey(frame: Tensor) -> float:
    """The one value of a plain frame."""
    return round(float(frame.mean()), 4)


def plain_clip(*greys: float) -> Pixels:
    """Plain frames (T, 4, 4, 3); greys are multiples of 1/5, so that bytes hold them exactly."""
    return np.stack([np.full((4, 4, 3), round(255 * value), np.uint8) for value in greys])
