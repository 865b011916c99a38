"""Variants of training: what the encoder is shown. Targets are never touched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from wiser.train.parts import Part, find
from wiser.train.unroll import Seen
from wiser.worldmodel.protocol import unit_image


class Variant(Part):
    """What happens to the encoder's input; terms and modules of its own are a `Part`'s."""

    shape: ClassVar[Mapping[str, Any]] = {}
    """What it asks of the model: fields of `DreamerConfig`."""

    def show(self, obs: Mapping[str, Tensor], generator: torch.Generator) -> Seen:
        """What the encoder sees of each sensor's readings (B, T, *shape): here everything, as it is."""
        shape = next(iter(obs.values())).shape[:2]
        return Seen(obs, torch.ones((*shape, len(obs)), dtype=torch.bool, device=generator.device))  # (B, T, N)


class Base(Variant):
    """Every sensor, as it is."""


class Dropout(Variant):
    """What Algorithm 1 leaves, drawn afresh for every step of every sequence."""

    def show(self, obs: Mapping[str, Tensor], generator: torch.Generator) -> Seen:
        """Some of the sensors, as they are."""
        shape = next(iter(obs.values())).shape[:2]
        return Seen(obs, dropout_masks(shape, len(obs), generator))  # (B, T, N)


class Tokens(Dropout):
    """The same, with a learned token for each sensor that is left out: RME as its own paper means it."""

    shape: ClassVar[Mapping[str, Any]] = {"missing": "token"}


class Augmented(Variant):
    """Every sensor, with Gaussian noise on the images."""

    def show(self, obs: Mapping[str, Tensor], generator: torch.Generator) -> Seen:
        """Every sensor; images as floats in [0, 1]."""
        std = self.config.noise_std
        noisy = {name: add_noise(x, std, generator) if x.ndim == 5 else x for name, x in obs.items()}
        return super().show(noisy, generator)


VARIANTS: dict[str, type[Variant]] = {
    "base": Base,
    "dropout": Dropout,
    "tokens": Tokens,
    "augmented": Augmented,
}
"""By the name that `TrainConfig.variant` gives. Add your own."""


def find_variant(name: str) -> type[Variant]:
    """The variant of that name."""
    return find("variant", VARIANTS, name)


def dropout_masks(shape: tuple[int, ...], sensors: int, generator: torch.Generator) -> Tensor:
    """Algorithm 1: which sensors survive random multi-representation dropout, (*shape, N), drawn afresh at each call.

    At every position u ~ Uniform{0..N-1} sensors are masked, chosen by a random ranking: never all of them.
    """
    masked = torch.randint(0, sensors, (*shape, 1), generator=generator, device=generator.device)
    ranking = torch.rand((*shape, sensors), generator=generator, device=generator.device).argsort(-1).argsort(-1)
    return ranking >= masked


def add_noise(x: Tensor, std: float, generator: torch.Generator) -> Tensor:
    """Normal noise on images (B, T, H, W, C); its strength is drawn for every frame, from none to `std`."""
    strength = std * torch.rand((*x.shape[:2], 1, 1, 1), generator=generator, device=x.device)
    noise = torch.randn(x.shape, generator=generator, device=x.device)
    return (unit_image(x) + strength * noise).clamp(0.0, 1.0)
