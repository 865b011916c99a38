"""The few layers DreamerV3 is made of: RMSNorm + SiLU everywhere, truncated-normal weights, block-diagonal products."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_EPSILON = 1e-4


def init_weight(weight: Tensor, fan_in: int, scale: float = 1.0) -> None:
    """Fill with a normal cut at two standard deviations, rescaled so that it is `scale / sqrt(fan_in)`."""
    if scale == 0.0:
        nn.init.zeros_(weight)
        return
    std = scale / math.sqrt(fan_in) / 0.87962566  # standard deviation of the unit normal cut at +-2
    nn.init.trunc_normal_(weight, std=std, a=-2 * std, b=2 * std)


def linear(inputs: int, outputs: int, scale: float = 1.0) -> nn.Linear:
    """Affine layer with DreamerV3's initialisation."""
    layer = nn.Linear(inputs, outputs)
    init_weight(layer.weight, inputs, scale)
    nn.init.zeros_(layer.bias)
    return layer


class NormAct(nn.Module):
    """RMSNorm over the last axis, then SiLU."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        """(..., size) -> (..., size)."""
        if not torch.is_grad_enabled():
            return F.silu((x * _inverse_rms(x)).mul_(self.scale), inplace=True)
        out: Tensor = _RMSNormSiLU.apply(x, self.scale)
        return out


def _inverse_rms(x: Tensor) -> Tensor:
    """(..., size) -> (..., 1)."""
    return torch.rsqrt(torch.linalg.vector_norm(x, dim=-1, keepdim=True).square() / x.shape[-1] + _EPSILON)


class _RMSNormSiLU(torch.autograd.Function):
    """silu(x / rms(x) * scale) with a backward pass by hand: half the memory traffic of the composed operations."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor) -> Tensor:
        inverse = _inverse_rms(x)  # (..., 1)
        normal = x * inverse
        y = normal * scale
        ctx.save_for_backward(normal, scale, inverse, y)
        return F.silu(y)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        normal, scale, inverse, y = ctx.saved_tensors
        grad_y = torch.ops.aten.silu_backward(grad, y)
        pull = grad_y * normal
        along = (pull @ (scale / len(scale)))[..., None]  # a product sums short rows faster than a mean does
        grad_x = grad_y.mul_(scale).addcmul_(normal, along, value=-1.0).mul_(inverse)
        return grad_x, pull.flatten(0, -2).sum(0)


class BlockLinear(nn.Module):
    """Block-diagonal affine layer: each of `blocks` groups of units sees only its own part of the input.

    As in DreamerV3 its weights begin as small as if every unit saw the whole input: gates begin half open.
    """

    def __init__(self, inputs: int, outputs: int, blocks: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(blocks, inputs // blocks, outputs // blocks))
        self.bias = nn.Parameter(torch.zeros(outputs))
        init_weight(self.weight, inputs)

    def forward(self, x: Tensor) -> Tensor:
        """(B, blocks, inputs / blocks) -> (B, outputs)."""
        out = torch.bmm(x.transpose(0, 1), self.weight)  # (blocks, B, outputs / blocks)
        return out.transpose(0, 1).flatten(1) + self.bias


class MLP(nn.Sequential):
    """`layers` times linear + norm + act, all `units` wide."""

    def __init__(self, inputs: int, units: int, layers: int) -> None:
        widths = [inputs, *[units] * layers]
        parts: list[nn.Module] = []
        for width in widths[:-1]:
            parts += [linear(width, units), NormAct(units)]
        super().__init__(*parts)
