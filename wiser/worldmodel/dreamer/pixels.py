"""Layers for images: DreamerV3's convolutions, up-sampling ones, and patches; and the error of decoded images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wiser.worldmodel.dreamer.layers import init_weight

KERNEL = 5
_IMAGES = 16  # that operations in a row can touch without waiting for memory
Brush = Callable[[Tensor, Tensor, Tensor], Tensor]
"""(B, H, W, inputs), weight, bias -> logits of pixels as patches, (B, H, W, patch * patch * C)."""


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
        return join_patches(self.cells(x, *self.folded()), 2)

    def folded(self) -> tuple[Tensor, Tensor]:
        """Weight (2 * 2 * outputs, inputs, 3, 3) and bias of the convolution of the small image."""
        assert self.bias is not None
        weight = torch.einsum("oiyx,pay,qbx->pqoiab", self.weight, self.meets, self.meets).flatten(0, 2)
        return weight.contiguous(memory_format=torch.channels_last), self.bias.repeat(4)

    @staticmethod
    def cells(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """That convolution, to 2x2 patches of the large image: (B, H, W, inputs) -> (B, H, W, 2 * 2 * outputs)."""
        return F.conv2d(x.permute(0, 3, 1, 2), weight, bias, padding=1).permute(0, 2, 3, 1)


def padded(x: Tensor, size: int) -> Tensor:
    """(B, H, W, C) with black below and to the right, up to multiples of `size`."""
    down, right = (-side % size for side in x.shape[1:3])
    return F.pad(x, (0, 0, 0, right, 0, down)) if down or right else x


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


def centred(x: Tensor, dtype: torch.dtype) -> Tensor:
    """uint8 -> -127.5 to 127.5, floats in [0, 1] -> -0.5 to 0.5; layout kept. Bytes become floats piece by piece on a
    CPU, so that the second pass finds them in its cache."""
    if x.dtype != torch.uint8:
        return x.to(dtype) - 0.5
    if x.device.type != "cpu":
        return x.to(dtype) - 127.5
    out = torch.empty_like(x, dtype=dtype)
    for some, to in zip(x.split(_IMAGES), out.split(_IMAGES), strict=True):
        to.copy_(some).sub_(127.5)
    return out


def painted_error(
    brush: Brush, x: Tensor, weight: Tensor, bias: Tensor, target: Tensor, shown: Tensor | None = None
) -> Tensor:
    """Sum of (sigmoid(brush(x, weight, bias)) - target)^2; the target is uint8, or floats in [0, 1].

    Of pixels that are not all to count, `shown` (1, ...) is 1 for those that do and 0 for the others.
    """
    error: Tensor = _PaintedError.apply(brush, x, weight, bias, target, shown)
    return error


class _PaintedError(torch.autograd.Function):
    """The last layer, the error and their gradients for a few images at a time.

    All pixels of a batch are by far its largest tensors; composed operations would pass over them a dozen times.
    """

    @staticmethod
    def forward(
        ctx: Any, brush: Brush, x: Tensor, weight: Tensor, bias: Tensor, target: Tensor, shown: Tensor | None
    ) -> Tensor:
        leaves = [leaf.detach().requires_grad_() for leaf in (weight, bias)]
        scale = 1 / 255 if target.dtype == torch.uint8 else 1.0
        shown = None if shown is None else shown.to(x.dtype)
        some = _IMAGES if x.device.type == "cpu" else max(1, len(x))
        total, to_x, to_leaves = x.new_zeros(()), torch.empty_like(x), [torch.zeros_like(leaf) for leaf in leaves]
        for part, truth, to_part in zip(*(y.split(some) for y in (x, target, to_x)), strict=True):
            with torch.enable_grad():
                part = part.detach().requires_grad_()
                logits = brush(part, *leaves)
            guess = torch.sigmoid(logits.detach())
            gap = guess.sub(truth.to(x.dtype), alpha=scale)
            if shown is not None:
                gap *= shown
            total += torch.linalg.vector_norm(gap).square()
            slope = torch.ops.aten.sigmoid_backward(gap, guess)  # half of the gradient
            pulls = torch.autograd.grad(logits, (part, *leaves), slope)
            to_part.copy_(pulls[0])
            torch._foreach_add_(to_leaves, pulls[1:])
        ctx.save_for_backward(to_x, *to_leaves)
        return total

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor, Tensor, None, None]:
        to_x, to_weight, to_bias = (pull * (2.0 * grad) for pull in ctx.saved_tensors)
        return None, to_x, to_weight, to_bias, None, None
