"""Transforms of scalars: symlog, and two-hot values over exponentially spaced bins."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def symlog(x: Tensor) -> Tensor:
    """Logarithm on both sides of zero; its inverse is `symexp`."""
    return torch.sign(x) * torch.log1p(torch.abs(x))


def symexp(x: Tensor) -> Tensor:
    """Inverse of `symlog`."""
    return torch.sign(x) * torch.expm1(torch.abs(x))


def twohot_bins(count: int, device: torch.device | None = None) -> Tensor:
    """Bin values (count,): symexp of -20..20, exactly symmetric about zero."""
    half = symexp(torch.linspace(-20, 0, (count - 1) // 2 + 1, device=device))
    return torch.cat([half, -half[:-1].flip(0)])


def twohot_mean(logits: Tensor, bins: Tensor) -> Tensor:
    """Expected value (...) under softmax over `bins`; summed from both ends so that a uniform head gives exactly 0."""
    weighted = F.softmax(logits, -1) * bins  # (..., bins)
    half = bins.shape[0] // 2
    pairs = weighted[..., :half] + weighted[..., half + 1 :].flip(-1)
    return pairs.sum(-1) + weighted[..., half]


def twohot_cross_entropy(logprobs: Tensor, value: Tensor, bins: Tensor) -> Tensor:
    """Cross-entropy (...) of log-probabilities (..., bins) with each value (...) spread over its two nearest bins.

    The weights of the two bins make their mean the value. Only those two log-probabilities are looked up.
    """
    value = value.clamp(bins[0], bins[-1])
    above = torch.searchsorted(bins, value.contiguous()).clamp(1, bins.shape[0] - 1)  # (...)
    low, high = bins[above - 1], bins[above]
    near = logprobs.gather(-1, torch.stack([above - 1, above], -1))  # (..., 2)
    return -torch.lerp(near[..., 0], near[..., 1], (value - low) / (high - low))
