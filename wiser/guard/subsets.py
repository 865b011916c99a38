"""Subsets of sensors as boolean masks, True = trusted. The columns are the model's sensors, in its order."""

from __future__ import annotations

import torch
from torch import Tensor

MAX_EXHAUSTIVE = 12


def every_subset(sensors: int) -> Tensor:
    """All 2^N subsets as (2^N, N), from the full set down to the empty one."""
    if sensors > MAX_EXHAUSTIVE:
        raise ValueError(f"{sensors} sensors have {2**sensors} subsets; exhaustive search stops at {MAX_EXHAUSTIVE}")
    codes = torch.arange(2**sensors).flip(0)
    return (codes[:, None] >> torch.arange(sensors)) % 2 == 1


def dropout_masks(shape: tuple[int, ...], sensors: int, generator: torch.Generator) -> Tensor:
    """Algorithm 1: which sensors survive random multi-representation dropout, (*shape, N), drawn afresh at each call.

    At every position u ~ Uniform{0..N-1} sensors are masked, chosen by a random ranking: never all of them.
    """
    masked = torch.randint(0, sensors, (*shape, 1), generator=generator, device=generator.device)
    ranking = torch.rand((*shape, sensors), generator=generator, device=generator.device).argsort(-1).argsort(-1)
    return ranking >= masked
