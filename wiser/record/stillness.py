"""Which sensors repeat themselves while the world moves on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.record.recording import Lane

Reading = NDArray[Any] | None


class Stillness:
    """Counts for how long each sensor of a lane has said the same."""

    def __init__(self) -> None:
        self._readings: Mapping[str, Reading] = {}
        self._view: Reading = None
        self._steps: dict[str, int] = {}

    def look(self, readings: Mapping[str, Reading], view: Reading) -> dict[str, int]:
        """Steps for which every reading has been stale; without a view, the world moves if any reading does."""
        if self._readings:
            same = {name: _repeats(reading, self._readings[name]) for name, reading in readings.items()}
            moved = not all(same.values()) if view is None else not _equal(view, self._view)
            self._steps = {name: (self._steps.get(name, 0) + moved) * again for name, again in same.items()}
        self._readings, self._view = readings, view
        return self._steps


def stale_steps(lane: Lane) -> NDArray[np.int64]:
    """(T, N) what `look` says at every step of a recorded lane."""
    still, names = Stillness(), tuple(lane.readings)
    counts = np.zeros((len(lane), len(names)), np.int64)
    for t in range(len(lane)):
        here = {name: lane.readings[name][t] if lane.present[t, k] else None for k, name in enumerate(names)}
        stale = still.look(here, None if lane.view is None else lane.view[t])
        counts[t] = [stale.get(name, 0) for name in names]
    return counts


def _repeats(reading: Reading, before: Reading) -> bool:
    """Whether a sensor says the same again. A blank picture says nothing."""
    return reading is not None and _equal(reading, before) and (reading.size == 1 or bool(np.ptp(reading) > 0))


def _equal(one: NDArray[Any], other: Reading) -> bool:
    return other is not None and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
