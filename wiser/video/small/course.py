"""Training that can be stopped at any time: a file holds weights and optimiser, each step draws from its own stream.

So a course that was resumed ends with the same bits as one that was not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
    on: Mapping[str, Any] = field(default_factory=dict)
    """What it is trained on, and sizes of the network: weights of another course are not gone on from."""

    @property
    def identity(self) -> dict[str, str]:
        """What its file says of it."""
        mine = {"course": self.name, "steps": self.steps, "seed": self.seed, **self.on}
        return {name: str(value) for name, value in mine.items()}


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


def check_same(path: Path, about: Mapping[str, str], mine: Mapping[str, str]) -> None:
    """Raise where a file of a run says that it was made otherwise."""
    if other := [name for name, value in mine.items() if about.get(name) != value]:
        raise ModelError(f"{path} belongs to a course with another {', '.join(other)}: choose another folder")


def _write(course: Course, optimiser: torch.optim.Optimizer, path: Path, step: int) -> None:
    tensors = {f"network.{name}": value for name, value in course.network.state_dict().items()}
    for i, weight in enumerate(course.network.parameters()):
        tensors |= {f"optimiser.{i}.{name}": value for name, value in optimiser.state[weight].items()}
    packed = {name: value.detach().clone(memory_format=torch.contiguous_format) for name, value in tensors.items()}
    write_atomic(path, to_bytes(packed, {**course.identity, "step": str(step)}))


def _resume(course: Course, optimiser: torch.optim.Optimizer, path: Path) -> int:
    if not path.exists():
        return 0
    tensors, about = read_tensors(path)
    check_same(path, about, course.identity)
    course.network.load_state_dict(_part(tensors, "network."))
    for i, weight in enumerate(course.network.parameters()):
        if stored := _part(tensors, f"optimiser.{i}."):
            optimiser.state[weight] = stored
    return int(about["step"])


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
