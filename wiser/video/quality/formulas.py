"""The formulas of PAI-Bench's eight dimensions, on what their networks say of one video."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

NEAREST, USUAL, FARTHEST = 0.4, 0.3, 0.3
"""Weights of image-to-video scores: the frame most like the reference, consecutive frames, the worst of them."""


def consistency(features: Tensor) -> float:
    """Subject and background: how like its predecessor and the first one each later frame is, (T, E)."""
    unit = F.normalize(features, dim=-1)
    to_previous = _likeness(unit[1:], unit[:-1])  # (T - 1,)
    to_first = _likeness(unit[1:], unit[:1])
    return float((to_previous + to_first).mean() / 2)


def faithfulness(reference: Tensor, features: Tensor) -> float:
    """Image to video, subject and background: like the reference picture (1, E), and steady (T, E)."""
    unit = F.normalize(features, dim=-1)
    to_reference = _likeness(unit, F.normalize(reference, dim=-1))  # (T,)
    to_previous = _likeness(unit[1:], unit[:-1])  # (T - 1,)
    return float(NEAREST * to_reference.max() + USUAL * to_previous.mean() + FARTHEST * to_previous.min())


def smoothness(truth: Tensor, interpolated: Tensor) -> float:
    """Motion: how near a frame that was interpolated from its neighbours comes, (1, 3, H, W) both, on 0..255."""
    return float((255.0 - (truth - interpolated).abs().mean(dtype=torch.float64)) / 255.0)


def mean_of_ten(scores: Tensor) -> float:
    """Aesthetics: frames are judged on a scale to 10."""
    return float(scores.mean() / 10.0)


def mean_of_hundred(scores: Tensor) -> float:
    """Imaging: frames are judged on a scale to 100."""
    return float(scores.mean() / 100.0)


def agreement(video: Tensor, text: Tensor) -> float:
    """Overall consistency: cosine of a video's and its prompt's features, (E,) both; it may be negative."""
    return float(F.normalize(video, dim=-1) @ F.normalize(text, dim=-1))


def _likeness(some: Tensor, others: Tensor) -> Tensor:
    """Cosines of unit features; opposite is not worse than unrelated."""
    return (some * others).sum(-1).clamp(min=0.0)
