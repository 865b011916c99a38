"""Episodes of an agent under a treatment: how they went, and how well broken sensors were found."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wiser.evaluate.records import Episode
from wiser.evaluate.tally import DetectionTally
from wiser.evaluate.treatments import Treatment
from wiser.guard import Mode, Verdict
from wiser.rollout import Moment, Trial, Wave, waves
from wiser.worldmodel.protocol import WorldModel

Watch = Callable[[Wave, Moment], None]


def run_episodes(
    agent: WorldModel,
    treatment: Treatment,
    trial: Trial,
    watch: Watch | None = None,
    watched: Collection[int] = (),
) -> list[Episode]:
    """Drive all episodes of a trial to their ends. `watch` is shown every moment, with pictures of those `watched`."""
    names = tuple(sensor.name for sensor in agent.sensors)
    episodes: list[Episode] = []
    for wave in waves(trial, agent, partial(treatment.guard, agent, trial.env), treatment.prepare, watched):
        tally = Tally(wave, names)
        for moment in wave.moments:
            tally.add(moment)
            if watch is not None:
                watch(wave, moment)
        episodes += tally.episodes(trial)
    return episodes


class Tally:
    """What happened in the rows of a wave besides their scores. Rows that have ended are no longer counted."""

    def __init__(self, wave: Wave, sensors: tuple[str, ...]) -> None:
        self.wave, self.book, self.sensors = wave, wave.book, sensors
        rows = len(self.book.running)
        self.ever_broken = np.zeros((rows, len(sensors)), bool)
        self.modes = np.zeros((rows, len(Mode)), np.int64)
        self.detection = DetectionTally(rows, sensors)
        self.seconds, self.began = np.zeros(rows), time.perf_counter()

    def add(self, moment: Moment) -> None:
        """Count a moment, once it is in the book."""
        counted, verdict = self.book.counted, moment.verdict
        self.ever_broken |= moment.broken & counted[:, None]
        self.modes[np.arange(len(counted)), verdict.mode] += counted
        self.detection.add(moment.broken, verdict.trusted, verdict.surprise, sensor_scores(verdict), counted)
        self.seconds[counted & ~self.book.running] = time.perf_counter() - self.began

    def episodes(self, trial: Trial) -> list[Episode]:
        """One record per episode of the wave."""
        results = self.book.results()[: self.wave.episodes]
        return [
            Episode(
                index=self.wave.start + row,
                env_seed=trial.seed + self.wave.start + row,
                fault_seed=trial.disturbance.seed if trial.disturbance else 0,
                failed=tuple(name for name, hit in zip(self.sensors, self.ever_broken[row], strict=True) if hit),
                score=result.score,
                length=result.length,
                outcome=result.outcome,
                measures=result.measures,
                modes={Mode(m).name.lower(): float(n / result.length) for m, n in enumerate(self.modes[row]) if n},
                detection=self.detection.finish(row),
                seconds=float(self.seconds[row]),
            )
            for row, result in enumerate(results)
        ]


def sensor_scores(verdict: Verdict) -> NDArray[np.float64]:
    """The per-sensor score of a verdict (B, N), NaN where there is none.

    Witnesses have suspicion, selection has the surprise of each sensor alone, rejection M of its one sensor.
    """
    for name in ("suspicion", "isolated_surprise"):
        if name in verdict.scores:
            return np.asarray(verdict.scores[name])
    if "score" in verdict.scores:
        return np.broadcast_to(np.asarray(verdict.scores["score"])[:, None], verdict.trusted.shape)
    return np.full(verdict.trusted.shape, np.nan)
