"""Episodes of an agent under a treatment: how they went, and how well broken sensors were found."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wiser.evaluate.records import Episode
from wiser.evaluate.tally import DetectionTally
from wiser.evaluate.treatments import Treatment
from wiser.guard import Mode, Verdict
from wiser.rollout import Moment, Scorebook, Trial, Wave, complete, waves
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
        tally = Tally(wave.book, names)
        for moment in wave.moments:
            tally.add(moment)
            if watch is not None:
                watch(wave, moment)
        episodes += [tally.finish(row, trial, wave.start + row) for row in range(wave.episodes)]
    return completed(episodes)


def completed(episodes: Sequence[Episode]) -> list[Episode]:
    """All episodes of a trial, each with every measure that was mentioned in any of them."""
    measures = complete([episode.measures for episode in episodes])
    return [replace(episode, measures=own) for episode, own in zip(episodes, measures, strict=True)]


class Tally:
    """What happens in rows besides their scores, one episode after another. Rows that have ended are not counted."""

    def __init__(self, book: Scorebook, sensors: tuple[str, ...]) -> None:
        self.book, self.sensors = book, sensors
        rows = len(book.running)
        self.ever_broken = np.zeros((rows, len(sensors)), bool)
        self.modes = np.zeros((rows, len(Mode)), np.int64)
        self.detection = DetectionTally(rows, sensors)
        self.began, self.ended = np.full(rows, time.perf_counter()), np.zeros(rows)

    def add(self, moment: Moment) -> None:
        """Count a moment, once it is in the book."""
        counted, verdict = self.book.counted, moment.verdict
        self.ever_broken |= moment.broken & counted[:, None]
        self.modes[np.arange(len(counted)), verdict.mode] += counted
        self.detection.add(moment.broken, verdict.trusted, verdict.surprise, sensor_scores(verdict), counted)
        self.ended[counted & ~self.book.running] = time.perf_counter()

    def finish(self, row: int, trial: Trial, number: int) -> Episode:
        """The record of an episode that is over, the `number`-th of its trial; the row starts afresh."""
        result = self.book.result(row)
        episode = Episode(
            index=number,
            env_seed=trial.seed + number,
            fault_seed=trial.disturbance.seed if trial.disturbance else 0,
            failed=tuple(name for name, hit in zip(self.sensors, self.ever_broken[row], strict=True) if hit),
            score=result.score,
            length=result.length,
            outcome=result.outcome,
            measures=result.measures,
            modes={Mode(m).name.lower(): float(n / result.length) for m, n in enumerate(self.modes[row]) if n},
            detection=self.detection.finish(row),
            seconds=float(self.ended[row] - self.began[row]),
        )
        self.ever_broken[row], self.modes[row], self.began[row] = False, 0, time.perf_counter()
        return episode


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
