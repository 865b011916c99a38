"""What came of the first episode of every row: its score, how it ended, and the measures its domain declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.domain import Domain, Measure
from wiser.rollout.loop import Moment


class Result(NamedTuple):
    """One episode."""

    score: float
    length: int
    outcome: str
    """How it ended, in a word or two."""
    measures: dict[str, float]
    """By name; those that the environment mentioned in this episode. Flags are 0 or 1."""


def complete(measures: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Measures of the episodes of a trial: what was mentioned in some of them, but not in another, is 0 there."""
    names = dict.fromkeys(name for own in measures for name in own)
    return [{name: own.get(name, 0.0) for name in names} for own in measures]


class Scorebook:
    """Follows `rows` rows until the first episode of each is over; what they do afterwards is not counted."""

    def __init__(self, domain: Domain, rows: int, longest: int) -> None:
        self.domain, self.longest = domain, longest
        self.running = np.ones(rows, bool)
        self.counted = np.zeros(rows, bool)  # rows whose episode the last moment belonged to
        self.score, self.length = np.zeros(rows), np.zeros(rows, np.int64)
        self.outcome = [""] * rows
        self.measures: dict[str, NDArray[np.float64]] = {}
        self.mentioned: dict[str, NDArray[np.bool_]] = {}  # by measure: episodes whose environment has spoken of it

    def add(self, moment: Moment) -> None:
        """Count a moment in the rows whose episode still runs."""
        self.counted = counted = self.running
        self.score += np.where(counted, moment.reward, 0.0)
        self.length += counted
        for name, measure in self.domain.measures.items():
            if name in moment.info:
                spoken = counted & np.asarray(moment.info.get(f"_{name}", True))  # as Gymnasium marks it
                self._measure(name, measure, np.asarray(moment.info[name], np.float64), counted, spoken)
        over = counted & (moment.done | (self.length >= self.longest))
        for row in np.flatnonzero(over).tolist():
            self.outcome[row] = self._ending(moment, row)
        self.running = counted & ~over

    def result(self, row: int) -> Result:
        """What came of the episode in a row."""
        spoken = [name for name, rows in self.mentioned.items() if rows[row]]
        measures = {name: float(self.measures[name][row]) for name in spoken}
        return Result(float(self.score[row]), int(self.length[row]), self.outcome[row], measures)

    def restart(self, row: int) -> None:
        """Follow the next episode of a row."""
        self.running[row], self.score[row], self.length[row], self.outcome[row] = True, 0.0, 0, ""
        for name in self.measures:
            self.measures[name][row], self.mentioned[name][row] = 0.0, False

    def _measure(
        self, name: str, measure: Measure, now: NDArray[np.float64], counted: NDArray[np.bool_],
        spoken: NDArray[np.bool_],
    ) -> None:  # fmt: skip
        """Add up what `info` says now (B,)."""
        so_far = self.measures.setdefault(name, np.zeros(len(counted)))
        self.mentioned[name] = self.mentioned.get(name, False) | spoken
        latest = {"sum": so_far + now, "any": np.maximum(so_far, now != 0), "last": now}[measure.how]
        self.measures[name] = np.where(counted, latest, so_far)

    def _ending(self, moment: Moment, row: int) -> str:
        flags = {name: moment.info[name][row] for name in self.domain.endings if name in moment.info}
        return self.domain.ending(flags, not moment.terminated[row])
