"""What came of the first episode of every row: its score, how it ended, and the measures its domain declares."""

from __future__ import annotations

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
    """By name; those that the environment mentioned. Flags are 0 or 1."""


class Scorebook:
    """Follows `rows` rows until the first episode of each is over; what they do afterwards is not counted."""

    def __init__(self, domain: Domain, rows: int, longest: int) -> None:
        self.domain, self.longest = domain, longest
        self.running = np.ones(rows, bool)
        self.counted = np.zeros(rows, bool)  # rows whose episode the last moment belonged to
        self.score, self.length = np.zeros(rows), np.zeros(rows, np.int64)
        self.outcome = [""] * rows
        self.measures: dict[str, NDArray[np.float64]] = {}

    def add(self, moment: Moment) -> None:
        """Count a moment in the rows whose episode still runs."""
        self.counted = counted = self.running
        self.score += np.where(counted, moment.reward, 0.0)
        self.length += counted
        for name, measure in self.domain.measures.items():
            if name in moment.info:
                self._measure(name, measure, np.asarray(moment.info[name], np.float64), counted)
        over = counted & (moment.done | (self.length >= self.longest))
        for row in np.flatnonzero(over).tolist():
            self.outcome[row] = self._ending(moment, row)
        self.running = counted & ~over

    def results(self) -> list[Result]:
        """One per row."""
        return [
            Result(
                float(self.score[row]),
                int(self.length[row]),
                self.outcome[row],
                {name: float(values[row]) for name, values in self.measures.items()},
            )
            for row in range(len(self.score))
        ]

    def _measure(self, name: str, measure: Measure, now: NDArray[np.float64], counted: NDArray[np.bool_]) -> None:
        """Add up what `info` says now (B,)."""
        so_far = self.measures.setdefault(name, np.zeros(len(counted)))
        latest = {"sum": so_far + now, "any": np.maximum(so_far, now != 0), "last": now}[measure.how]
        self.measures[name] = np.where(counted, latest, so_far)

    def _ending(self, moment: Moment, row: int) -> str:
        flags = {name: moment.info[name][row] for name in self.domain.endings if name in moment.info}
        return self.domain.ending(flags, not moment.terminated[row])
