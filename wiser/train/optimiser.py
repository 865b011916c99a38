"""DreamerV3's optimiser: adaptive gradient clipping, then LaProp, with warm-up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

_IN_CACHE = 2**17  # weights that all operations of a step can touch one after another without waiting for memory


class LaProp(Optimizer):
    """LaProp with AGC: gradients are clipped per tensor, divided by their running size, then averaged.

    Unlike Adam the momentum runs over normalised gradients, which stays stable with a tiny epsilon.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 4e-5,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-20,
        agc: float = 0.3,
        warmup: int = 1000,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "agc": agc, "warmup": warmup, "step": 0})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient."""
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            if not params:
                continue
            for p in params:
                if not self.state[p]:
                    self.state[p] = {"square": torch.zeros_like(p), "momentum": torch.zeros_like(p)}
            group["step"] += 1
            for some in _batches(params):
                self._update(group, some)

    def _update(self, group: dict[str, Any], params: list[Tensor]) -> None:
        (beta1, beta2), count = group["betas"], group["step"]
        squares = [self.state[p]["square"] for p in params]
        momenta = [self.state[p]["momentum"] for p in params]
        grads = clip_adaptively(params, group["agc"])
        torch._foreach_mul_(squares, beta2)
        torch._foreach_addcmul_(squares, grads, grads, 1 - beta2)
        size = torch._foreach_div(squares, 1 - beta2**count)
        torch._foreach_sqrt_(size)
        torch._foreach_add_(size, group["eps"])
        torch._foreach_div_(grads, size)
        torch._foreach_lerp_(momenta, grads, 1 - beta1)
        rate = group["lr"] * min(1.0, count / max(1, group["warmup"])) / (1 - beta1**count)
        torch._foreach_add_(params, momenta, alpha=-rate)


def _batches(params: list[Tensor]) -> Iterator[list[Tensor]]:
    """Neighbours that fit the cache together; on other devices than a CPU all at once."""
    batch: list[Tensor] = []
    size = 0
    for p in params:
        size += p.numel()
        if batch and size > _IN_CACHE and p.device.type == "cpu":
            yield batch
            batch, size = [], p.numel()
        batch.append(p)
    yield batch


def clip_adaptively(params: list[Tensor], limit: float) -> list[Tensor]:
    """AGC: gradients scaled so that no tensor's norm exceeds `limit` times that of its weights (at least 1e-3)."""
    grads = [p.grad for p in params if p.grad is not None]
    bounds = torch.stack(torch._foreach_norm(params)).clamp_(min=1e-3).mul_(limit)
    excess = torch.stack(torch._foreach_norm(grads)).div_(bounds).clamp_(min=1.0)
    return list(torch._foreach_div(grads, list(excess.unbind())))
