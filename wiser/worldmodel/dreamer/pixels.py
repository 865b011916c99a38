"""Layers for images: DreamerV3's convolutions, up-sampling ones, and patches."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wiser.worldmodel.dreamer.layers import init_weight

KERNEL = 5


def conv(inputs: int, outputs: int, stride: int = 1) -> nn.Conv2d:
    """5x5 convolution with DreamerV3's initialisation; of the same size, or `stride` times smaller."""
    layer = nn.Conv2d(inputs, outputs, KERNEL, stride, padding=KERNEL // 2)
    init_weight(layer.weight, inputs * KERNEL * KERNEL)
    assert layer.bias is not None
    nn.init.zeros_(layer.bias)
    return layer


class UpConv(nn.Module):
    """Nearest up-sampling by two and a same-size 5x5 convolution, as one 3x3 convolution of the small image.

    Around a pixel of the large image several of the 25 weights meet copies of one pixel of the small image; their sums
    are 9 weights for each of the four places a pixel can have in its cell. The same numbers for a third of the work.
    """

    meets: Tensor

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        large = conv(inputs, outputs)
        self.weight, self.bias = large.weight, large.bias
        meets = torch.zeros(2, 3, KERNEL)  # (place, small tap, large tap)
        for place in range(2):
            for tap in range(KERNEL):
                meets[place, (place + tap - 2) // 2 + 1, tap] = 1.0
        self.register_buffer("meets", meets, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, H, W, inputs) -> (B, 2 H, 2 W, outputs)."""
        assert self.bias is not None
        weight = torch.einsum("oiyx,pay,qbx->pqoiab", self.weight, self.meets, self.meets).flatten(0, 2)
        weight = weight.contiguous(memory_format=torch.channels_last)  # (2 * 2 * outputs, inputs, 3, 3)
        x = F.conv2d(x.permute(0, 3, 1, 2), weight, self.bias.repeat(4), padding=1)
        return join_patches(x.permute(0, 2, 3, 1), 2)


def split_patches(x: Tensor, size: int) -> Tensor:
    """(B, H, W, C) -> (B, H/size, W/size, size * size * C)."""
    rows, height, width, channels = x.shape
    x = x.reshape(rows, height // size, size, width // size, size, channels)
    return x.transpose(2, 3).reshape(rows, height // size, width // size, size * size * channels)


def join_patches(x: Tensor, size: int) -> Tensor:
    """(B, H, W, size * size * C) -> (B, H * size, W * size, C)."""
    rows, height, width, _ = x.shape
    x = x.view(rows, height, width, size, size, -1).transpose(2, 3)
    return x.reshape(rows, height * size, width * size, -1)
