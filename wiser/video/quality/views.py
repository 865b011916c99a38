"""How a dimension looks at a frame: resized and cropped as PAI-Bench does it, without torchvision.

Some dimensions resize with antialiasing and some without, and the reference picture goes another way than the frames
do. Scores depend on it, so all of it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from torch.nn import functional as F

Frames = NDArray[np.uint8]
"""(T, H, W, 3), RGB."""
Picture = NDArray[np.uint8]
"""(H, W, 3), RGB."""


@dataclass(frozen=True)
class View:
    """Resize, then perhaps crop the middle."""

    size: int
    fit: Literal["shorter", "both", "longer"]
    """Which side becomes `size` pixels long; a longer side that is no longer than that stays as it is."""
    mode: Literal["bicubic", "bilinear"]
    antialias: bool = False
    crop: int | None = None
    whole: bool = False
    """Resized pixels are rounded to 0..255, as whole numbers are; otherwise a bicubic curve may overshoot."""

    def __call__(self, frames: Frames) -> Tensor:
        """(B, H, W, 3) -> (B, 3, h, w), in [0, 1] but for overshoot."""
        pixels = torch.from_numpy(frames).permute(0, 3, 1, 2).float()  # (B, 3, H, W)
        size = self.resized(*frames.shape[1:3])
        pixels = F.interpolate(pixels, size, mode=self.mode, align_corners=False, antialias=self.antialias)
        if self.whole:
            pixels = pixels.clamp(0.0, 255.0).round()
        return self._middle(pixels) / 255.0

    def still(self, picture: Picture) -> Tensor:
        """The reference picture, (H, W, 3) -> (1, 3, h, w): resized by Pillow, which antialiases and rounds."""
        height, width = self.resized(*picture.shape[:2])
        curve = Image.Resampling.BICUBIC if self.mode == "bicubic" else Image.Resampling.BILINEAR
        resized = np.array(Image.fromarray(picture).resize((width, height), curve))  # (h, w, 3)
        return self._middle(torch.from_numpy(resized).permute(2, 0, 1)[None].float()) / 255.0

    def resized(self, height: int, width: int) -> tuple[int, int]:
        """Sides before the crop; fractions are cut off."""
        if self.fit == "both":
            return self.size, self.size
        if self.fit == "shorter":
            shorter = min(height, width)
            return int(self.size * height / shorter), int(self.size * width / shorter)
        scale = min(1.0, self.size / max(height, width))
        return int(scale * height), int(scale * width)

    def _middle(self, pixels: Tensor) -> Tensor:
        if self.crop is None:
            return pixels
        top, left = (round((side - self.crop) / 2) for side in pixels.shape[-2:])  # halves to the even number
        return pixels[..., top : top + self.crop, left : left + self.crop]


def middle_frames(length: int, count: int) -> list[int]:
    """The middle of each of `count` equal parts of a video; a shorter one ends with its last part repeated."""
    borders = np.linspace(0, length, min(count, length) + 1).astype(int)
    found = [int(start + end - 1) // 2 for start, end in pairwise(borders)]
    return found + found[-1:] * (count - len(found))
