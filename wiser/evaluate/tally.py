"""Counts detection while a batch of episodes runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.evaluate.detection import COUNTS, HISTOGRAMS, SENSOR_COUNTS, Detection
from wiser.evaluate.histogram import BINS, Histogram, bin_of

Array = NDArray[Any]
NEVER = -1


class DetectionTally:
    """One running `Detection` per row. `add` every step, `finish` a row when its episode ends."""

    def __init__(self, rows: int, sensors: Sequence[str]) -> None:
        self.sensors = tuple(sensors)
        width = len(self.sensors)
        self._step = np.zeros(rows, np.int64)
        self._onset = np.full((rows, width), NEVER)
        self._caught = np.full((rows, width), NEVER)
        self._counts = {name: np.zeros(rows, np.int64) for name in COUNTS}
        self._sensor_counts = {name: np.zeros((rows, width), np.int64) for name in SENSOR_COUNTS}
        self._histograms = {name: np.zeros((rows, BINS), np.int64) for name in HISTOGRAMS}

    def add(self, broken: Array, trusted: Array, surprise: Array, scores: Array, active: Array) -> None:
        """Count one step: the truth (B, N), the guard's trust (B, N), surprise (B,), scores (B, N), rows to count (B,).

        NaN means not measured.
        """
        broken, trusted, active = (np.asarray(mask, np.bool_) for mask in (broken, trusted, active))
        surprise, scores = np.asarray(surprise, np.float64), np.asarray(scores, np.float64)
        faulty, clean = broken.any(1) & active, ~broken.any(1) & active
        self._count_masks(broken, ~trusted, clean, faulty)
        self._follow(broken & active[:, None], ~trusted)
        self._bin("surprise_clean", surprise[:, None], clean[:, None])
        self._bin("surprise_faulty", surprise[:, None], faulty[:, None])
        self._bin("score_healthy", scores, ~broken & active[:, None])
        self._bin("score_broken", scores, broken & active[:, None])
        self._step += active

    def finish(self, row: int) -> Detection:
        """What the episode of `row` says; the row starts afresh."""
        onset, caught = self._onset[row], self._caught[row]
        seen, missed = caught != NEVER, (onset != NEVER) & (caught == NEVER)
        totals: dict[str, Any] = {name: int(count[row]) for name, count in self._counts.items()}
        totals |= {name: tuple(counts[row].tolist()) for name, counts in self._sensor_counts.items()}
        totals |= {name: Histogram.dense(counts[row]) for name, counts in self._histograms.items()}
        result = Detection(
            sensors=self.sensors,
            delays=tuple((caught - onset)[seen].tolist()),
            missed=tuple((self._step[row] - 1 - onset)[missed].tolist()),
            **totals,
        )
        for kept in (self._counts, self._sensor_counts, self._histograms, {"": self._step}):
            for array in kept.values():
                array[row] = 0
        self._onset[row] = self._caught[row] = NEVER
        return result

    def _count_masks(self, broken: Array, distrusted: Array, clean: Array, faulty: Array) -> None:
        found = {
            "clean_steps": clean,
            "faulty_steps": faulty,
            "alarms": clean & distrusted.any(1),
            "exact": faulty & (broken == distrusted).all(1),
            "hits": faulty * (broken & distrusted).sum(1),
            "distrusted": faulty * distrusted.sum(1),
            "broken": faulty * broken.sum(1),
        }
        for name, count in found.items():
            self._counts[name] += count
        each = {
            "sensor_alarms": distrusted & clean[:, None],
            "sensor_broken": broken & faulty[:, None],
            "sensor_distrusted": distrusted & faulty[:, None],
            "sensor_hits": broken & distrusted & faulty[:, None],
        }
        for name, happened in each.items():
            self._sensor_counts[name] += happened

    def _follow(self, broken: Array, distrusted: Array) -> None:
        now = np.broadcast_to(self._step[:, None], broken.shape)
        for first, happened in ((self._onset, broken), (self._caught, broken & distrusted)):
            fresh = happened & (first == NEVER)
            first[fresh] = now[fresh]

    def _bin(self, name: str, values: Array, chosen: Array) -> None:
        chosen = chosen & ~np.isnan(values)
        np.add.at(self._histograms[name], (np.nonzero(chosen)[0], bin_of(values[chosen])), 1)
