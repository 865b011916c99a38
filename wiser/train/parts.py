"""What differs between runs is a part: a module of its own, found by name, learnt and checkpointed with the model.

A part is known to the learner by this file only. Whatever it keeps as weights is trained unless it is frozen
(`requires_grad_(False)`), and its whole `state_dict` is in every checkpoint: slow copies, running statistics,
multipliers are parameters or buffers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from wiser import seeds
from wiser.names import perhaps
from wiser.train.config import TrainConfig
from wiser.train.unroll import Observed
from wiser.worldmodel.dreamer import DreamerV3


class Part(nn.Module):
    """Something that learns beside the model. The model is no part of it: every call is given it."""

    shape: ClassVar[Mapping[str, Any]] = {}
    """What it asks of the model: fields of `DreamerConfig`."""

    def __init__(self, config: TrainConfig, model: DreamerV3) -> None:
        super().__init__()
        self.config = config

    def terms(self, model: DreamerV3, observed: Observed, generator: torch.Generator) -> dict[str, Tensor]:
        """What it adds to the loss of an update, by name."""
        return {}

    def follow(self, model: DreamerV3) -> None:
        """Called after every update: the moment for slow copies to take over some of the new weights."""

    def figures(self) -> dict[str, Tensor]:
        """What the log is told of an update besides the terms, by name."""
        return {}


AnyPart = TypeVar("AnyPart", bound=Part)


def find(kind: str, known: Mapping[str, type[AnyPart]], name: str) -> type[AnyPart]:
    """The part of that name; a ValueError lists those there are."""
    if name not in known:
        raise ValueError(f"no {kind} {name!r}{perhaps(name, known)}; there are {', '.join(sorted(known))}")
    return known[name]


def build(kind: type[AnyPart], config: TrainConfig, model: DreamerV3) -> AnyPart:
    """Make a part for a model; its weights come from the run's seed, the same in every process."""
    with torch.random.fork_rng(devices=[]):  # initialisation draws from its own seed, not from the caller's
        torch.manual_seed(int(seeds.stream(kind.__name__, config.seed).generate_state(1)[0]))
        return kind(config, model).to(config.device)
