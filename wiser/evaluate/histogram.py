"""Distributions of scores on one fixed grid: small enough to store with every episode, and they add up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

EDGES = np.geomspace(1e-4, 1e4, 161)
"""Twenty bins a decade, each 12 % wide: surprise is measured in nats, reconstruction in shares of the range."""
BINS = EDGES.size + 1
"""One more below the grid (zeros belong there) and one above it."""
CENTRES = np.concatenate([[0.0], np.sqrt(EDGES[:-1] * EDGES[1:]), EDGES[-1:]])
"""What a value of each bin counts as; values above the grid count as its end."""


def bin_of(values: ArrayLike) -> NDArray[np.intp]:
    """Bin of each value, 0 to `BINS - 1`. NaN has none: leave it out first."""
    return np.searchsorted(EDGES, np.asarray(values, np.float64), side="right")


@dataclass(frozen=True)
class Histogram:
    """How many values fell into each bin."""

    counts: tuple[int, ...] = (0,) * BINS

    @classmethod
    def of(cls, values: ArrayLike) -> Histogram:
        """Count `values`; NaN means not measured and is not counted."""
        values = np.asarray(values, np.float64).ravel()
        return cls.dense(np.bincount(bin_of(values[~np.isnan(values)]), minlength=BINS))

    @classmethod
    def dense(cls, counts: NDArray[Any]) -> Histogram:
        """Freeze an array of `BINS` counts."""
        return cls(tuple(counts.tolist()))

    @classmethod
    def sparse(cls, pairs: Iterable[tuple[int, int]]) -> Histogram:
        """The inverse of `pairs`."""
        counts = np.zeros(BINS, np.int64)
        for index, count in pairs:
            counts[index] = count
        return cls.dense(counts)

    @classmethod
    def pool(cls, histograms: Iterable[Histogram]) -> Histogram:
        """Add histograms up."""
        return cls.dense(np.sum([histogram.counts for histogram in histograms] or [cls().counts], axis=0))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(bin, count) of the bins that are not empty."""
        return [(index, count) for index, count in enumerate(self.counts) if count]

    @property
    def moments(self) -> tuple[float, float] | None:
        """Mean and standard deviation, every value taken as the centre of its bin; None if there are no values."""
        counts = np.array(self.counts)
        if not counts.any():
            return None
        mean = np.average(CENTRES, weights=counts)
        return float(mean), float(np.sqrt(np.average((CENTRES - mean) ** 2, weights=counts)))


def auroc(clean: Histogram, faulty: Histogram) -> float | None:
    """Probability that a faulty value exceeds a clean one, ties within a bin counted half; None if either is empty."""
    negatives, positives = np.array(clean.counts), np.array(faulty.counts)
    pairs = int(negatives.sum()) * int(positives.sum())
    below = np.cumsum(negatives) - negatives / 2
    return float(positives @ below) / pairs if pairs else None
