"""Decoders: what each sensor should read, given the belief."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wiser.worldmodel.dreamer.config import DreamerConfig
from wiser.worldmodel.dreamer.encoder import MULTIPLIERS
from wiser.worldmodel.dreamer.layers import MLP, BlockLinear, NormAct, linear
from wiser.worldmodel.dreamer.maths import symexp, symlog
from wiser.worldmodel.dreamer.pixels import Brush, UpConv, join_patches, padded, painted_error, split_patches
from wiser.worldmodel.protocol import Belief, Sensor


class SpatialStart(nn.Module):
    """Belief -> small feature map (B, H, W, C); each recurrent block writes its own channels."""

    def __init__(self, config: DreamerConfig, height: int, width: int, channels: int) -> None:
        super().__init__()
        self.shape = (height, width, channels)
        self.blocks = config.blocks
        outputs = height * width * channels
        self.from_deter = BlockLinear(config.deter, outputs, config.blocks)
        self.from_stoch = nn.Sequential(
            MLP(config.stoch * config.classes, 2 * config.units, 1), linear(2 * config.units, outputs)
        )
        self.norm = NormAct(channels)

    def forward(self, belief: Belief) -> Tensor:
        """(B, D), (B, S, C) -> (B, H, W, C)."""
        rows, (height, width, channels) = belief.deter.shape[0], self.shape
        own = self.from_deter(belief.deter.view(rows, self.blocks, -1))
        own = own.view(rows, self.blocks, height, width, -1).permute(0, 2, 3, 1, 4).reshape(rows, height, width, -1)
        return self.norm(own + self.from_stoch(belief.stoch.flatten(1)).view(rows, height, width, channels))


class ImageDecoder(nn.Module, ABC):
    """Paints an image in patches of `patch` x `patch` pixels, in whole `grain`s; what is too much is cut off."""

    patch: int
    grain: int
    size: tuple[int, int]  # of the image
    brush: Brush

    @abstractmethod
    def canvas(self, belief: Belief) -> tuple[Tensor, Tensor, Tensor]:
        """What the last layer, `brush`, makes patches of: its input (B, H / patch, W / patch, ...), weight and bias."""

    def forward(self, belief: Belief) -> Tensor:
        """Belief -> expected image (B, H, W, C) in (0, 1)."""
        height, width = self.size
        return torch.sigmoid(join_patches(self.brush(*self.canvas(belief)), self.patch))[:, :height, :width]

    def squared_error(self, belief: Belief, target: Tensor) -> Tensor:
        """Summed over the pixels of all images (B, H, W, C), uint8 or in [0, 1]; what is cut off counts for nothing."""
        shown = self._shown(target) if any(side % self.grain for side in self.size) else None
        return painted_error(self.brush, *self.canvas(belief), self._patches(target), shown)

    def _shown(self, target: Tensor) -> Tensor:
        """1 for the pixels of an image, 0 for those that are cut off, as patches (1, H / patch, W / patch, ...)."""
        return self._patches(target.new_ones(1, *target.shape[1:]))

    def _patches(self, images: Tensor) -> Tensor:
        return split_patches(padded(images, self.grain), self.patch)


class ConvDecoder(ImageDecoder):
    """DreamerV3's image decoder: four times nearest up-sampling and convolution."""

    patch, grain, brush = 2, 16, staticmethod(UpConv.cells)

    def __init__(self, config: DreamerConfig, shape: tuple[int, ...]) -> None:
        super().__init__()
        height, width, channels = shape
        self.size = height, width
        widths = [config.depth * factor for factor in reversed(MULTIPLIERS)]
        self.start = SpatialStart(config, height // 16, width // 16, widths[0])
        outputs = [*widths[1:], channels]
        self.convs = nn.ModuleList(UpConv(a, b) for a, b in zip(widths, outputs, strict=True))
        self.norms = nn.ModuleList(NormAct(b) for b in outputs[:-1])

    def canvas(self, belief: Belief) -> tuple[Tensor, Tensor, Tensor]:
        """At half the size of the image."""
        x = self.start(belief)  # (B, H, W, C), as all that follow
        for convolve, norm in zip(self.convs[:-1], self.norms, strict=True):
            x = norm(convolve(x))
        last = self.convs[-1]
        assert isinstance(last, UpConv)
        return (x, *last.folded())


class PatchDecoder(ImageDecoder):
    """Mirror of the patch tower: cells split 2x2, each painting a patch."""

    brush = staticmethod(F.linear)

    def __init__(self, config: DreamerConfig, shape: tuple[int, ...]) -> None:
        super().__init__()
        height, width, channels = shape
        units, self.patch, self.grain, self.size = 8 * config.depth, config.patch, 2 * config.patch, (height, width)
        self.start = SpatialStart(config, math.ceil(height / self.grain), math.ceil(width / self.grain), units)
        self.split = linear(units, 4 * units)
        self.norm = NormAct(units)
        self.paint = linear(units, self.patch**2 * channels)

    def canvas(self, belief: Belief) -> tuple[Tensor, Tensor, Tensor]:
        """One cell per patch."""
        x = self.norm(join_patches(self.split(self.start(belief)), 2))  # (B, H / patch, W / patch, units)
        return x, self.paint.weight, self.paint.bias


class VectorDecoder(nn.Module):
    """Three dense layers to a symlog prediction."""

    def __init__(self, config: DreamerConfig, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = shape
        size = Sensor("vector", shape, "float32", 0.0, 0.0).size
        self.layers = MLP(config.deter + config.stoch * config.classes, config.units, 3)
        self.out = linear(config.units, size)

    def symlog(self, belief: Belief) -> Tensor:
        """Belief -> symlog of the expected vector, (B, n)."""
        return self.out(self.layers(torch.cat([belief.deter, belief.stoch.flatten(1)], -1)))

    def forward(self, belief: Belief) -> Tensor:
        """Belief -> expected vector (B, ...) in its own units."""
        return symexp(self.symlog(belief)).view(-1, *self.shape)

    def squared_error(self, belief: Belief, target: Tensor) -> Tensor:
        """On the symlog scale, summed over all vectors (B, ...)."""
        truth = symlog(target.float().reshape(len(target), -1))
        return F.mse_loss(self.symlog(belief), truth, reduction="sum")


def sensor_decoder(config: DreamerConfig, sensor: Sensor) -> ImageDecoder | VectorDecoder:
    """Build the decoder of one sensor."""
    if not sensor.is_image:
        return VectorDecoder(config, sensor.shape)
    return (PatchDecoder if config.tower == "patch" else ConvDecoder)(config, sensor.shape)
