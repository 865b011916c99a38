"""How alike pictures are, pixel by pixel."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

_WINDOW, _SIGMA = 11, 1.5
_STEADY_MEAN, _STEADY_SPREAD = 0.01**2, 0.03**2  # K1 and K2 of the paper, for values in [0, 1]


def signal_to_noise(frames: Tensor, clean: Tensor) -> Tensor:
    """PSNR of frames in [0, 1], (B, H, W, C) -> (B,), in dB; 100 at most, as of equal ones."""
    error = (frames - clean).square().flatten(1).mean(1)
    return -10.0 * torch.log10(error.clamp(min=1e-10))


def structural_similarity(frames: Tensor, clean: Tensor) -> Tensor:
    """SSIM (Wang et al., 2004) of frames in [0, 1], (B, H, W, C) -> (B,), mean over channels.

    Gaussian windows of 11x11 pixels, only those that lie in the picture; variances are those of a population.
    """
    if min(frames.shape[1:3]) < _WINDOW:
        raise ValueError(f"SSIM needs pictures of at least {_WINDOW}x{_WINDOW} pixels, got {tuple(frames.shape[1:3])}")
    x, y = frames.permute(0, 3, 1, 2), clean.permute(0, 3, 1, 2)  # (B, C, H, W)
    mean_x, mean_y = _windows(x), _windows(y)  # (B, C, H - 10, W - 10)
    spread = _windows(x * x) - mean_x**2 + _windows(y * y) - mean_y**2
    shared = _windows(x * y) - mean_x * mean_y
    brightness = (2 * mean_x * mean_y + _STEADY_MEAN) / (mean_x**2 + mean_y**2 + _STEADY_MEAN)
    return (brightness * (2 * shared + _STEADY_SPREAD) / (spread + _STEADY_SPREAD)).flatten(1).mean(1)


def _windows(pictures: Tensor) -> Tensor:
    """Mean of every window, weighted by a Gaussian around its middle."""
    at = torch.arange(_WINDOW, dtype=pictures.dtype, device=pictures.device) - _WINDOW // 2
    weight = torch.exp(-0.5 * (at / _SIGMA) ** 2)
    weight = (weight / weight.sum()).expand(pictures.shape[1], 1, 1, -1)  # (C, 1, 1, 11)
    rows = F.conv2d(pictures, weight, groups=pictures.shape[1])
    return F.conv2d(rows, weight.mT, groups=pictures.shape[1])
