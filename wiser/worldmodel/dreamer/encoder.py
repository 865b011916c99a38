"""Image towers: how one image, or a stack of them, becomes a flat feature vector."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wiser.worldmodel.dreamer.config import DreamerConfig
from wiser.worldmodel.dreamer.layers import NormAct, linear
from wiser.worldmodel.dreamer.pixels import centred, conv, padded, split_patches
from wiser.worldmodel.protocol import Sensor

MULTIPLIERS = (2, 3, 4, 4)  # channels of the four stages, in units of `depth`


class ConvTower(nn.Module):
    """DreamerV3's image encoder: four times convolution, 2x2 max-pool, norm, act; or strides instead of pooling."""

    def __init__(self, shape: tuple[int, ...], depth: int, strided: bool = False) -> None:
        super().__init__()
        height, width, channels = shape
        widths = [channels, *(depth * factor for factor in MULTIPLIERS)]
        self.convs = nn.ModuleList(conv(a, b, 2 if strided else 1) for a, b in itertools.pairwise(widths))
        self.shrink = nn.Identity() if strided else nn.MaxPool2d(2)
        self.norms = nn.ModuleList(NormAct(b) for b in widths[1:])
        self.features = (height // 16) * (width // 16) * widths[-1]

    def forward(self, x: Tensor) -> Tensor:
        """uint8, or floats in [0, 1]: (B, H, W, C) -> (B, E)."""
        layers = (self._first, *self.convs[1:])
        for layer, norm in zip(layers, self.norms, strict=True):
            x = layer(x.permute(0, 3, 1, 2))  # (B, C, H, W), channels last in memory
            x = norm(self.shrink(x).permute(0, 2, 3, 1))
        return x.flatten(1)

    def _first(self, x: Tensor) -> Tensor:
        """The convolution of pixels / 255 - 0.5; scaling the few weights spares a pass over the many pixels."""
        layer = self.convs[0]
        assert isinstance(layer, nn.Conv2d)
        weight = layer.weight * (1 / 255) if x.dtype == torch.uint8 else layer.weight
        return F.conv2d(centred(x, weight.dtype), weight, layer.bias, layer.stride, layer.padding)


class PatchTower(nn.Module):
    """Patches embedded by one product, merged 2x2 by another: cheap where small convolutions are slow."""

    def __init__(self, shape: tuple[int, ...], depth: int, patch: int = 8) -> None:
        super().__init__()
        height, width, channels = shape
        units, self.patch = 8 * depth, patch
        self.embed = linear(patch * patch * channels, units)
        self.embed_norm = NormAct(units)
        self.merge = linear(4 * units, units)
        self.merge_norm = NormAct(units)
        self.features = math.ceil(height / (2 * patch)) * math.ceil(width / (2 * patch)) * units

    def forward(self, x: Tensor) -> Tensor:
        """uint8, or floats in [0, 1]: (B, H, W, C) -> (B, E)."""
        x = padded(x, 2 * self.patch)
        x = self.embed_norm(self._embed(split_patches(x, self.patch)))  # (B, H / patch, W / patch, units)
        return self.merge_norm(self.merge(split_patches(x, 2))).flatten(1)

    def _embed(self, patches: Tensor) -> Tensor:
        """The product with pixels / 255 - 0.5; scaling the few weights spares two passes over the many pixels."""
        weight, bias = self.embed.weight, self.embed.bias - 0.5 * self.embed.weight.sum(1)
        if patches.dtype == torch.uint8:
            weight = weight * (1 / 255)
        return F.linear(patches.to(weight.dtype), weight, bias)


def image_tower(config: DreamerConfig, shape: tuple[int, ...]) -> ConvTower | PatchTower:
    """Build the kind of image tower the config asks for."""
    if config.tower == "patch":
        return PatchTower(shape, config.depth, config.patch)
    return ConvTower(shape, config.depth, strided=config.tower == "strided")


def blank(sensor: Sensor, like: Tensor) -> Tensor:
    """Return the masked reading of one sensor: zero in raw space, (1, ...)."""
    return torch.zeros((1, *sensor.shape), dtype=like.dtype, device=like.device)
