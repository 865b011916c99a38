"""The training loop: collect, learn, and leave a checkpoint now and then from which the run goes on exactly."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from wiser import seeds
from wiser.checks import check_folder
from wiser.threads import use_threads
from wiser.train import checkpoint, distributed
from wiser.train.collect import Collector, describe
from wiser.train.config import TrainConfig
from wiser.train.experience import SENSOR, replay_fields
from wiser.train.learner import Learner
from wiser.train.log import Log
from wiser.train.memory import keep_freed_memory
from wiser.train.objectives import find_objective
from wiser.train.precision import matrix_products
from wiser.train.replay import Replay
from wiser.train.score import evaluate
from wiser.train.variants import find_variant
from wiser.train.warmstart import carry_over, start_at_mean
from wiser.worldmodel.dreamer import DreamerConfig, DreamerV3
from wiser.worldmodel.store import load

Report = Callable[[dict[str, Any]], None]


def build_model(config: TrainConfig) -> DreamerV3:
    """Make a new model for the run's environment."""
    sensors, actions = describe(config)
    changes = {"fusion": config.fusion, **find_variant(config.variant).shape, **find_objective(config.objective).shape}
    changes |= {name: getattr(config, name) for name in ("tower", "patch") if getattr(config, name)}
    shape = DreamerConfig.of_size(config.size, sensors, actions, **changes)
    model = DreamerV3(shape, seed=config.seed).to(config.device)
    if config.start:
        carry_over(model, load(config.start))
    return model


def check_device(device: str) -> None:
    """Raise a ValueError where torch has no such device."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"no device {device!r} here, try cpu: {str(error).splitlines()[0]}") from error


class Run:
    """Everything of one process of a run, and where it stands."""

    def __init__(self, config: TrainConfig, folder: Path, rank: int = 0) -> None:
        self.config, self.folder, self.rank = config, folder, rank
        self.own = folder if rank == 0 else folder / f"process{rank}"  # of several, the first speaks for the run
        self.model = build_model(config)
        self.learner, self.rng = Learner(config, self.model, rank), seeds.generator("batches", config.seed, rank)
        checkpoint.begin(self.own, config)  # not before everything the config names was found
        self.replay = Replay(replay_fields(config, self.model), config.rows, config.capacity, self.own / "replay")
        self.collector: Collector | None = None
        self.update = 0
        state = checkpoint.read(folder, self.own, self.learner, self.replay, self.rng)
        if state is not None:
            self.update = state.update
            if state.environments is not None:
                self.collector = self._restored(*state.environments)

    def _collector(self) -> Collector:
        """Environments as they are at the beginning of their life; seeds stay below those of evaluation."""
        life = self.update // self.config.life
        draws = seeds.generator("environments", self.config.seed, life, self.rank)
        seed = int(draws.integers(seeds.TRAINING.stop - self.config.rows))
        return Collector(self.config, self.model, self.replay, seed)

    def _restored(self, tensors: dict[str, Tensor], about: dict[str, Any]) -> Collector:
        collector = self._collector()
        try:
            collector.restore(tensors, about)
        except BaseException:
            collector.close()
            raise
        return collector

    def segment(self, note: Report) -> None:
        """Collect and learn until the next checkpoint or evaluation is due."""
        config = self.config
        due = [(self.update // every + 1) * every for every in (config.segment, config.evaluate_every)]
        end = min(config.updates, *due)
        terms: dict[str, list[float]] = {}
        since, began = self.update, time.perf_counter()
        while self.update < end:
            self._collect()
            for name, value in self.learner.update(self.replay, self.rng, self.update).items():
                terms.setdefault(name, []).append(float(value))
            self.update += 1
            if self.update % config.log_every == 0:
                rate = (self.update - since) * config.batch * config.length / (time.perf_counter() - began)
                note(self._entry(rate, terms))
                terms, since, began = {}, self.update, time.perf_counter()

    def _collect(self) -> None:
        """Step the environments as often as an update wants. At the end of their life they begin afresh."""
        config, teaching = self.config, self.learner.teaching
        share = 0.0 if teaching is None else teaching.share(self.update)
        if self.collector is None or (self.update % config.life == 0 and self.update > 0):
            self.close()
            self.collector = self._collector()
        if self.update == 0:
            for _ in range(max(config.prefill, config.length + 1)):
                self.collector.step(share)
            self._start_at_mean()
            for module in self.learner.modules.values():
                distributed.share(module)
        for _ in range(config.steps_per_update):
            self.collector.step(share)

    def _start_at_mean(self) -> None:
        """Let decoders that were not carried over from another agent begin with the mean of what was seen so far."""
        config, carried = self.config, load(self.config.start).decodes if self.config.start else ()
        if new := [name for name in self.model.decodes if name not in carried]:
            seen = self.replay.sample(config.rows, config.length, seeds.generator("mean", config.seed)).steps
            start_at_mean(self.model, {name: torch.from_numpy(seen[SENSOR + name]) for name in new})

    def _entry(self, rate: float, terms: dict[str, list[float]]) -> dict[str, Any]:
        assert self.collector is not None
        means = {name: float(np.mean(values)) for name, values in terms.items()}
        return {
            "update": self.update,
            "steps": self.replay.head * self.config.rows,
            "rate": rate,
            **self.collector.returns.means(),
            **means,
        }

    def save(self) -> None:
        """Write a checkpoint."""
        environments = None
        if self.collector is not None and self.update % self.config.life:
            environments = self.collector.state()
        checkpoint.write(self.own, self.learner, self.replay, self.rng, checkpoint.Where(self.update, environments))

    def close(self) -> None:
        """Let go of the environments."""
        if self.collector is not None:
            self.collector.close()


def train(config: TrainConfig, folder: Path, report: Report) -> DreamerV3:
    """Start or go on with the run in `folder` until its last update. Ctrl-C stops it; it can be resumed."""
    use_threads(config.threads)
    check_device(config.device)
    check_folder(folder)
    keep_freed_memory()
    with (
        matrix_products(config.precision),
        closing(Run(config, folder, distributed.start(config.device))) as run,
        closing(Log(run.own, run.update)) as log,
    ):

        def note(entry: dict[str, Any]) -> None:
            log.add(entry)
            report(entry)

        while run.update < config.updates:
            run.segment(note)
            if run.rank == 0 and (run.update % config.evaluate_every == 0 or run.update >= config.updates):
                scores = evaluate(config, run.model, config.evaluate_episodes)
                note({"update": run.update, "steps": run.replay.head * config.rows, **scores})
            run.save()
    distributed.finish()
    return run.model
