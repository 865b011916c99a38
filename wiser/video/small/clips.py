"""Clips by seed, and what a codec is shown: clips whose pictures may be broken."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wiser import seeds
from wiser.faults import apply
from wiser.video.small.motion import pour, wander
from wiser.video.small.scene import SIDE, Look, render

Clip = NDArray[np.uint8]
"""(T, H, W, 3), RGB."""
MOTIONS = {"pour": pour, "wander": wander}
FAULTS = ("gaussian", "glare", "jitter", "chrome", "occlusion")
"""The five corruptions of the paper's video experiment."""
SOUND = 0.5
"""Share of the codec's clips without a broken picture."""


def film(seed: int, pictures: int, motion: Literal["pour", "wander"] = "pour") -> Clip:
    """The clip of a seed, (T, SIDE, SIDE, 3); a longer one begins with the same pictures."""
    rng = seeds.generator("pouring", seed)
    look = Look.draw(rng)
    return np.stack([render(look, pose) for pose in MOTIONS[motion](look, pictures, rng)])


def spoil(clip: Clip, rng: np.random.Generator) -> Clip:
    """Half of the clips stay as they are; in the others all or some pictures are broken in one of five ways."""
    if rng.random() < SOUND:
        return clip
    fault, whole = FAULTS[rng.integers(len(FAULTS))], rng.random() < 0.5
    broken = np.ones(len(clip), bool) if whole else rng.random(len(clip)) < 0.5  # (T,)
    return apply(fault, clip, broken * rng.uniform(0.1, 1.0), rng)


def crop(clip: Clip, side: int, rng: np.random.Generator) -> Clip:
    """The same window of all pictures, (T, side, side, 3)."""
    top, left = rng.integers(SIDE - side, size=2, endpoint=True).tolist()
    return clip[:, top : top + side, left : left + side]


def to_video(clips: list[Clip]) -> Tensor:
    """What an autoencoder takes, (B, 3, T, H, W) in [-1, 1]."""
    return torch.from_numpy(np.stack(clips)).permute(0, 4, 1, 2, 3).float() / 127.5 - 1.0


def to_unit(video: Tensor) -> Tensor:
    """What an autoencoder gives as pictures in [0, 1], (B, 3, T, H, W) -> (B, T, H, W, 3)."""
    return (video * 0.5 + 0.5).clamp(0.0, 1.0).permute(0, 2, 3, 4, 1)
