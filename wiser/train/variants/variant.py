"""What a variant of training is: what the encoder is shown of the readings. Targets are never touched."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from wiser.train.parts import Part
from wiser.train.unroll import Seen, Sequences, Unrolled
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.protocol import Belief


class Variant(Part):
    """What happens to the encoder's input; terms and modules of its own are a `Part`'s."""

    def show(self, obs: Mapping[str, Tensor], generator: torch.Generator) -> Seen:
        """What the encoder sees of each sensor's readings (B, T, *shape): here everything, as it is."""
        shape = next(iter(obs.values())).shape[:2]
        return Seen(obs, torch.ones((*shape, len(obs)), dtype=torch.bool, device=generator.device))  # (B, T, N)

    def starts(self, model: DreamerV3, batch: Sequences, unrolled: Unrolled, generator: torch.Generator) -> Belief:
        """The beliefs (B, T, ...) that imagination starts from: here those that the model came to."""
        return unrolled.belief


class Base(Variant):
    """Every sensor, as it is."""
