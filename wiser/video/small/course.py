"""Training that can be stopped at any time: a file holds weights and optimiser, each step draws from its own stream.

So a course that was resumed ends with the same bits as one that was not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from wiser import seeds
from wiser.files import write_atomic
from wiser.weights import ModelError, read_tensors

LONGEST_STEP = 1.0
"""Norm that gradients are clipped to."""
WARM = 50
"""Steps in which the rate rises."""
LOWEST = 0.02
"""The rate at the end, of the highest."""

Report = Callable[[int, float], None]
"""(step, its loss)."""


@dataclass(frozen=True)
class Course:
    """What is trained, on what, and for how long."""

    name: str
    network: nn.Module
    loss: Callable[[int, np.random.Generator], Tensor]
    """Of a step; all that is random in it comes from the generator."""
    steps: int
    rate: float
    seed: int


def follow(course: Course, path: Path, report: Report, every: int = 25) -> None:
    """Train to the end, from where the file `path` says it stopped; written every so many steps and at the end."""
    weights = list(course.network.parameters())
    optimiser = torch.optim.AdamW(weights, course.rate, betas=(0.9, 0.99), weight_decay=1e-4)
    start = _resume(course, optimiser, path)
    course.network.train()
    for step in range(start, course.steps):
        for group in optimiser.param_groups:
            group["lr"] = course.rate * pace(step, course.steps)
        loss = course.loss(step, seeds.generator(course.name, course.seed, step))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(weights, LONGEST_STEP)
        optimiser.step()
        report(step + 1, float(loss.detach()))
        if (step + 1) % every == 0 or step + 1 == course.steps:
            _write(course, optimiser, path, step + 1)
    course.network.eval().requires_grad_(False)


def pace(step: int, steps: int) -> float:
    """The rate of a step, of the highest: up along a line, down along half a cosine."""
    rise = min(1.0, (step + 1) / WARM)
    return rise * (LOWEST + (1.0 - LOWEST) * 0.5 * (1.0 + math.cos(math.pi * step / steps)))


def _write(course: Course, optimiser: torch.optim.Optimizer, path: Path, step: int) -> None:
    tensors = {f"network.{name}": value for name, value in course.network.state_dict().items()}
    for i, weight in enumerate(course.network.parameters()):
        tensors |= {f"optimiser.{i}.{name}": value for name, value in optimiser.state[weight].items()}
    packed = {name: value.detach().clone(memory_format=torch.contiguous_format) for name, value in tensors.items()}
    about = {"course": course.name, "step": str(step), "steps": str(course.steps), "seed": str(course.seed)}
    write_atomic(path, to_bytes(packed, about))


def _resume(course: Course, optimiser: torch.optim.Optimizer, path: Path) -> int:
    if not path.exists():
        return 0
    tensors, about = read_tensors(path)
    mine = {"course": course.name, "steps": str(course.steps), "seed": str(course.seed)}
    if other := [name for name, value in mine.items() if about.get(name) != value]:
        raise ModelError(f"{path} belongs to a course with another {', '.join(other)}: choose another folder")
    course.network.load_state_dict(_part(tensors, "network."))
    for i, weight in enumerate(course.network.parameters()):
        if stored := _part(tensors, f"optimiser.{i}."):
            optimiser.state[weight] = stored
    return int(about["step"])


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
