"""Several processes, one model: `torchrun --nproc_per_node N -m wiser train ...`.

Every process steps environments of its own, fills a replay of its own and averages its gradients with the others.
Without torchrun everything here does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch import distributed as dist


def start(device: str) -> int:
    """Join the group that torchrun has prepared, if any; returns the rank of this process."""
    if "RANK" in os.environ and not dist.is_initialized():
        dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    return dist.get_rank() if dist.is_initialized() else 0


@torch.no_grad()
def average_gradients(parameters: Iterable[Tensor]) -> None:
    """Replace every gradient by its mean over all processes."""
    if not dist.is_initialized():
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for gradient, mean in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))


@torch.no_grad()
def mean(value: Tensor) -> Tensor:
    """The mean of a number over all processes."""
    if not dist.is_initialized():
        return value.detach()
    total = value.clone()
    dist.all_reduce(total)
    return total / dist.get_world_size()


@torch.no_grad()
def share(module: nn.Module) -> None:
    """Give every process the weights of the first."""
    if dist.is_initialized():
        for value in module.state_dict().values():
            dist.broadcast(value, 0)


def finish() -> None:
    """Leave the group."""
    if dist.is_initialized():
        dist.destroy_process_group()
