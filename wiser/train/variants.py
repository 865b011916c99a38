"""Variants of training: what happens to the encoder's input. Targets are never touched."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from wiser.guard import dropout_masks
from wiser.train.config import TrainConfig
from wiser.worldmodel.protocol import unit_image


def input_masks(config: TrainConfig, shape: tuple[int, int], sensors: int, generator: torch.Generator) -> Tensor:
    """Which sensors the encoder sees, (B, T, N): all of them, or what Algorithm 1 leaves."""
    if config.variant == "dropout":
        return dropout_masks(shape, sensors, generator)
    return torch.ones((*shape, sensors), dtype=torch.bool, device=generator.device)


def input_readings(config: TrainConfig, obs: Mapping[str, Tensor], generator: torch.Generator) -> Mapping[str, Tensor]:
    """What the encoder sees of each sensor (B, T, *shape): the readings, or with Gaussian noise on the images."""
    if config.variant != "augmented":
        return obs
    return {name: _noisy(x, config.noise_std, generator) if x.ndim == 5 else x for name, x in obs.items()}


def _noisy(x: Tensor, std: float, generator: torch.Generator) -> Tensor:
    """Normal noise on images (B, T, H, W, C); its strength is drawn for every frame, from none to `std`."""
    strength = std * torch.rand((*x.shape[:2], 1, 1, 1), generator=generator, device=x.device)
    noise = torch.randn(x.shape, generator=generator, device=x.device)
    return (unit_image(x) + strength * noise).clamp(0.0, 1.0)
