"""Training with noise on the images."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from wiser.train.unroll import Seen
from wiser.train.variants.variant import Variant
from wiser.worldmodel.protocol import unit_image


class Augmented(Variant):
    """Every sensor, with Gaussian noise on the images."""

    def show(self, obs: Mapping[str, Tensor], generator: torch.Generator) -> Seen:
        """Every sensor; images as floats in [0, 1]."""
        std = self.config.noise_std
        noisy = {name: add_noise(x, std, generator) if x.ndim == 5 else x for name, x in obs.items()}
        return super().show(noisy, generator)


def add_noise(x: Tensor, std: float, generator: torch.Generator) -> Tensor:
    """Normal noise on images (B, T, H, W, C); its strength is drawn for every frame, from none to `std`."""
    strength = std * torch.rand((*x.shape[:2], 1, 1, 1), generator=generator, device=x.device)
    noise = torch.randn(x.shape, generator=generator, device=x.device)
    return (unit_image(x) + strength * noise).clamp(0.0, 1.0)
