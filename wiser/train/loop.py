"""The training loop. A run is a chain of segments; each starts from a checkpoint and fresh environments."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import wiser.envs  # noqa: F401 - registers the environments
from wiser.train import checkpoint, distributed
from wiser.train.collect import Collector, describe, make_env, replay_fields
from wiser.train.config import TrainConfig
from wiser.train.learner import Learner
from wiser.train.log import Log
from wiser.train.memory import keep_freed_memory
from wiser.train.replay import Replay
from wiser.train.score import evaluate
from wiser.train.warmstart import carry_over, start_at_mean
from wiser.worldmodel.dreamer import DreamerConfig, DreamerV3
from wiser.worldmodel.store import load

Report = Callable[[dict[str, Any]], None]


def build_model(config: TrainConfig) -> DreamerV3:
    """Make a new model for the run's environment."""
    sensors, actions = describe(make_env(config, 1), config)
    changes = {"fusion": config.fusion} | ({"tower": config.tower} if config.tower else {})
    shape = DreamerConfig.of_size(config.size, sensors, actions, **changes)
    model = DreamerV3(shape, seed=config.seed).to(config.device)
    if config.start:
        carry_over(model, load(config.start))
    return model


def train(config: TrainConfig, folder: Path, report: Report) -> DreamerV3:
    """Start or go on with the run in `folder` until its last update. Ctrl-C stops it; it can be resumed."""
    torch.set_num_threads(config.threads)
    keep_freed_memory()
    rank = distributed.start(config.device)
    own = folder if rank == 0 else folder / f"process{rank}"  # of several processes the first speaks for the run
    checkpoint.begin(own, config)
    model = build_model(config)
    replay = Replay(replay_fields(model), config.rows, config.capacity, own / "replay")
    learner, rng = Learner(config, model, rank), distributed.generator(rank, config.seed)
    update = checkpoint.read(folder, own, learner, replay, rng)
    log = Log(own, update)

    def note(entry: dict[str, Any]) -> None:
        log.add(entry)
        report(entry)

    while update < config.updates:
        update = _segment(config, learner, replay, rng, rank, update, note)
        if rank == 0 and (update % config.evaluate_every == 0 or update >= config.updates):
            note({"update": update, **evaluate(config, model, config.evaluate_episodes)})
        checkpoint.write(own, learner, replay, rng, update)
    log.close()
    distributed.finish()
    return model


def _segment(
    config: TrainConfig,
    learner: Learner,
    replay: Replay,
    rng: np.random.Generator,
    rank: int,
    start: int,
    note: Report,
) -> int:
    """Collect and learn until the next checkpoint is due; returns the update reached."""
    collector = Collector(config, learner.model, replay, seed=_segment_seed(config, rank, start))
    end = min(config.updates, (start // config.segment + 1) * config.segment)
    if start == 0:
        for _ in range(max(config.prefill, config.length + 1)):
            collector.step(config.guided_share(0))
        if not config.start:
            seen = replay.sample(config.rows, config.length, np.random.default_rng(config.seed)).steps
            start_at_mean(learner.model, {s.name: torch.from_numpy(seen[s.name]) for s in learner.model.sensors})
        distributed.share(learner.model)
    terms: dict[str, list[float]] = {}
    since, began = start, time.perf_counter()
    for update in range(start, end):
        for _ in range(config.steps_per_update):
            collector.step(config.guided_share(update))
        for name, value in learner.update(replay, rng, update).items():
            terms.setdefault(name, []).append(float(value))
        if (update + 1) % config.log_every == 0:
            rate = (update + 1 - since) * config.batch * config.length / (time.perf_counter() - began)
            scores = collector.finished[-20:]
            means = {name: float(np.mean(values)) for name, values in terms.items()}
            note(
                {
                    "update": update + 1,
                    "rate": rate,
                    "policy_score": float(np.mean(scores)) if scores else None,
                    **means,
                }
            )
            terms, since, began = {}, update + 1, time.perf_counter()
    return end


def _segment_seed(config: TrainConfig, rank: int, update: int) -> int:
    """Seed of a segment's environments: far apart, and below the seeds that evaluation uses."""
    return int(distributed.generator(rank, config.seed, update).integers(0, 900_000))
