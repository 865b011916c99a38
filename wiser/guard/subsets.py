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
