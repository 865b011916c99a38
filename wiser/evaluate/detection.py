"""How well a guard finds broken sensors, counted step by step against the truth.

A *faulty* step has at least one broken sensor, a *clean* step has none; a sensor is *distrusted* when the belief was
not inferred from it. Everything stored is a count or a list, so episodes pool exactly: pool first, then take ratios.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wiser.evaluate.histogram import Histogram, auroc

SENSOR_COUNTS = ("sensor_alarms", "sensor_broken", "sensor_distrusted", "sensor_hits")
COUNTS = ("clean_steps", "faulty_steps", "alarms", "exact", "hits", "distrusted", "broken")
HISTOGRAMS = ("surprise_clean", "surprise_faulty", "score_healthy", "score_broken")
FIGURES = (
    "surprise_auroc",
    "score_auroc",
    "false_alarms_per_1000",
    "exact_share",
    "precision",
    "recall",
    "caught_share",
    "median_delay",
)


class Masks(NamedTuple):
    """One sensor, over all steps of some episodes."""

    broken: float | None
    """Share of the steps at which it was broken."""
    then: float | None
    """Share of these at which it was distrusted."""
    otherwise: float | None
    """Share of the others at which it was distrusted."""


@dataclass(frozen=True, kw_only=True)
class Detection:
    """What one episode, or several pooled, says about detection."""

    sensors: tuple[str, ...]
    """Names of the entries of what is counted for each sensor."""
    clean_steps: int
    faulty_steps: int
    alarms: int
    """Clean steps at which any sensor was distrusted."""
    sensor_alarms: tuple[int, ...]
    """Clean steps at which this sensor was distrusted."""
    exact: int
    """Faulty steps at which the distrusted sensors were exactly the broken ones."""
    hits: int
    """Sensors both broken and distrusted, over all faulty steps."""
    distrusted: int
    """Sensors distrusted, over all faulty steps."""
    broken: int
    """Sensors broken, over all faulty steps."""
    delays: tuple[int, ...]
    """For each sensor that broke and was caught: steps from its first broken step to the first it was distrusted at
    while broken; 0 is at once."""
    missed: tuple[int, ...]
    """For each sensor that broke and was never caught: steps from its first broken step to the end of the episode."""
    surprise_clean: Histogram
    surprise_faulty: Histogram
    score_healthy: Histogram
    """Scores of sensors that were not broken, at any step."""
    score_broken: Histogram
    sensor_broken: tuple[int, ...] = ()
    """Steps at which this sensor was broken; like the next two, empty where nobody counted it."""
    sensor_distrusted: tuple[int, ...] = ()
    """Faulty steps at which this sensor was distrusted."""
    sensor_hits: tuple[int, ...] = ()
    """Steps at which this sensor was broken and distrusted."""

    @classmethod
    def pool(cls, episodes: Iterable[Detection]) -> Detection:
        """Treat several episodes with the same sensors as one long observation."""
        episodes = list(episodes)
        if len({episode.sensors for episode in episodes}) != 1:
            raise ValueError("detection pools over episodes with the same sensors, and at least one episode")
        values = {field.name: [getattr(episode, field.name) for episode in episodes] for field in fields(cls)}
        totals: dict[str, Any] = {name: sum(values[name]) for name in COUNTS}
        totals |= {name: Histogram.pool(values[name]) for name in HISTOGRAMS}
        for name in SENSOR_COUNTS:  # of old records some were not counted: then neither is their sum
            totals[name] = tuple(map(sum, zip(*values[name], strict=True))) if all(values[name]) else ()
        return cls(
            sensors=episodes[0].sensors,
            delays=tuple(chain.from_iterable(values["delays"])),
            missed=tuple(chain.from_iterable(values["missed"])),
            **totals,
        )

    @property
    def surprise_auroc(self) -> float | None:
        """How well surprise tells faulty steps from clean ones."""
        return auroc(self.surprise_clean, self.surprise_faulty)

    @property
    def score_auroc(self) -> float | None:
        """How well the score of a sensor tells broken sensors from healthy ones."""
        return auroc(self.score_healthy, self.score_broken)

    @property
    def false_alarms_per_1000(self) -> float | None:
        """Of 1,000 clean steps, how many distrust any sensor."""
        return _ratio(1000 * self.alarms, self.clean_steps)

    @property
    def exact_share(self) -> float | None:
        """Share of the faulty steps at which exactly the broken sensors are distrusted."""
        return _ratio(self.exact, self.faulty_steps)

    @property
    def precision(self) -> float | None:
        """Share of the distrusted sensors that are broken, at faulty steps."""
        return _ratio(self.hits, self.distrusted)

    @property
    def recall(self) -> float | None:
        """Share of the broken sensors that are distrusted, at faulty steps."""
        return _ratio(self.hits, self.broken)

    @property
    def caught_share(self) -> float | None:
        """Share of the sensors that broke which were ever caught."""
        return _ratio(len(self.delays), len(self.delays) + len(self.missed))

    @property
    def median_delay(self) -> float | None:
        """Steps within which half of the sensors that broke are caught; None if that was never seen."""
        steps, share = delay_curve(self.delays, self.missed)
        return next((float(step) for step in steps[share >= 0.5]), None)

    def figures(self) -> dict[str, float | None]:
        """All of the above by name; None where there is nothing to take a figure from."""
        return {name: getattr(self, name) for name in FIGURES}

    def sensor_false_alarms_per_1000(self) -> dict[str, float | None]:
        """Of 1,000 clean steps, how many distrust this sensor."""
        return {
            name: _ratio(1000 * alarms, self.clean_steps)
            for name, alarms in zip(self.sensors, self.sensor_alarms, strict=True)
        }

    def masks(self) -> dict[str, Masks]:
        """How often each sensor was broken and distrusted; nothing of records in which that was not counted."""
        steps = self.clean_steps + self.faulty_steps
        counts = (self.sensor_broken, self.sensor_hits, self.sensor_alarms, self.sensor_distrusted)
        return {
            name: Masks(_ratio(broken, steps), _ratio(hits, broken), _ratio(alarms + distrusted - hits, steps - broken))
            for name, broken, hits, alarms, distrusted in zip(self.sensors, *counts, strict=False)
        }

    def to_json(self) -> str:
        """Compact text; of the histograms only the bins that are not empty."""
        body = vars(self) | {name: getattr(self, name).pairs for name in HISTOGRAMS}
        return json.dumps(body, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Detection:
        """The inverse of `to_json`."""
        body = json.loads(text)
        lists = {name: tuple(value) for name, value in body.items() if isinstance(value, list)}
        return cls(**body | lists | {name: Histogram.sparse(body[name]) for name in HISTOGRAMS})


def delay_curve(delays: ArrayLike, missed: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Kaplan-Meier estimate: (steps, share of broken sensors caught within that many steps).

    An episode that ends before a sensor is caught says only "longer than that": left out it would flatter a guard that
    misses, called "never" it would punish one whose episodes are short.
    """
    caught = np.sort(np.asarray(delays, np.int64))
    watched = np.sort(np.concatenate([caught, np.asarray(missed, np.int64)]))
    steps, events = np.unique(caught, return_counts=True)
    at_risk = watched.size - np.searchsorted(watched, steps, side="left")
    return steps, 1 - np.cumprod(1 - events / at_risk)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
