"""Random shares of a batch."""

from __future__ import annotations

import torch
from torch import Tensor


def share_of(count: int, share: float, generator: torch.Generator) -> Tensor | slice:
    """All of `count` indices, or a random share of them, but one at least."""
    if share >= 1.0:
        return slice(None)
    order = torch.randperm(count, generator=generator, device=generator.device)
    return order[: max(1, round(share * count))]


def flag_share(count: int, share: float, generator: torch.Generator) -> Tensor:
    """Flags (count,), of which a share, to the nearest number, is set at random. None or all take no draw."""
    flags = torch.zeros(count, dtype=torch.bool, device=generator.device)
    number = round(share * count)
    if 0 < number < count:
        flags[torch.randperm(count, generator=generator, device=generator.device)[:number]] = True
        return flags
    return flags | (number > 0)
