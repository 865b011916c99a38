"""Drive, learn, examine: how a score or a denoiser comes to its weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from wiser import seeds
from wiser.checks import at_least
from wiser.guard.learned.files import build_network, write_network
from wiser.guard.learned.uses import find_image
from wiser.learn.frames import batches, clean_frames, once
from wiser.learn.lessons import LESSONS, Lesson
from wiser.worldmodel.protocol import WorldModel

HELD_OUT = 0.1
"""Frames of the examination, as a share of those learnt from; they are of other episodes."""
LONGEST_STEP = 1.0
"""Norm that gradients are clipped to."""

Report = Callable[[int, float], None]
"""(update, its loss)."""


@dataclass(frozen=True)
class Learnt:
    """A network that has learnt."""

    kind: str
    network: Any
    sensor: str
    held_out: dict[str, float]
    """What the examination says."""
    about: dict[str, Any]
    """How it was made."""

    def save(self, folder: Path) -> Path:
        """Write KIND.safetensors and KIND.json; returns the former."""
        return write_network(self.kind, self.network, folder, self.sensor, **self.about, held_out=self.held_out)


def learn(
    kind: str,
    model: WorldModel,
    env: str,
    *,
    sensor: str | None = None,
    frames: int = 20_000,
    updates: int = 4000,
    batch: int = 32,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    report: Report = lambda update, loss: None,
) -> Learnt:
    """Train the network of a score or a denoiser, `resnet18` or `restormer`, on frames that an agent sees.

    sensor: whose frames; None = the agent's only image.
    frames: clean ones to learn from, and a tenth as many from episodes of other seeds for the examination.
    settings: of the network; by default it is as published, which is large.
    """
    if kind not in LESSONS:
        raise ValueError(f"nothing to learn is called {kind!r}; there are {', '.join(LESSONS)}")
    at_least(1, frames=frames, updates=updates, batch=batch)
    at_least(0, seed=seed)
    image = find_image(model, sensor)
    with torch.random.fork_rng(devices=[]):  # initialisation draws from its own seed, not from the caller's
        torch.manual_seed(int(seeds.stream(kind, seed).generate_state(1)[0]))
        lesson = LESSONS[kind](build_network(kind, {"channels": image.shape[2], **(settings or {})}))
    first = int(seeds.generator("frames", seed).integers(len(seeds.TRAINING) // 2))
    shown = clean_frames(model, env, image.name, frames, seeds.TRAINING[first], options or {})
    unseen = clean_frames(
        model, env, image.name, math.ceil(HELD_OUT * frames), seeds.HELD_OUT[first % 1000], options or {}
    )
    _train(lesson, batches(shown, batch, seeds.generator("noise", seed)), updates, seed, report)
    with torch.no_grad():
        found = lesson.examine(once(unseen, batch, seeds.generator("examination", seed)))
    about = {"env": env, "frames": frames, "updates": updates, "batch": batch, "seed": seed}
    return Learnt(kind, lesson.network, image.name, found, {**about, "agent_weights": model.digest})


def _train(lesson: Lesson, pairs: Any, updates: int, seed: int, report: Report) -> None:
    weights = list(lesson.network.parameters())
    optimiser = torch.optim.AdamW(weights, lesson.rate, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, updates)
    generator = torch.Generator().manual_seed(int(seeds.stream("coins", seed).generate_state(1)[0]))
    lesson.network.train()
    for update in range(1, updates + 1):
        loss = lesson.loss(next(pairs), generator)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, LONGEST_STEP)
        optimiser.step()
        schedule.step()
        report(update, float(loss.detach()))
    lesson.network.eval().requires_grad_(False)
