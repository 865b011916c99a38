"""Algorithm 1: training with some of the sensors missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from wiser.train.unroll import Seen
from wiser.train.variants.variant import Variant


class Dropout(Variant):
    """What Algorithm 1 leaves, drawn afresh for every step of every sequence."""

    def show(self, obs: Mapping[str, Tensor], generator: torch.Generator) -> Seen:
        """Some of the sensors, as they are."""
        shape = next(iter(obs.values())).shape[:2]
        return Seen(obs, dropout_masks(shape, len(obs), generator))  # (B, T, N)


class Tokens(Dropout):
    """The same, with a learned token for each sensor that is left out: RME as its own paper means it."""

    shape: ClassVar[Mapping[str, Any]] = {"missing": "token"}


def dropout_masks(shape: tuple[int, ...], sensors: int, generator: torch.Generator) -> Tensor:
    """Algorithm 1: which sensors survive random multi-representation dropout, (*shape, N), drawn afresh at each call.

    At every position u ~ Uniform{0..N-1} sensors are masked, chosen by a random ranking: never all of them.
    """
    masked = torch.randint(0, sensors, (*shape, 1), generator=generator, device=generator.device)
    ranking = torch.rand((*shape, sensors), generator=generator, device=generator.device).argsort(-1).argsort(-1)
    return ranking >= masked
