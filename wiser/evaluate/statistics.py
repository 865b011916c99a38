"""Estimates with bootstrap intervals.

Scores come as strata, one list of scores per task (or seed). Each stratum is resampled with replacement by itself, so a
resample has as many scores of each as the data. It is held as *counts*, how often each score was drawn: then every
statistic here is a few matrix products over all resamples at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Strata = Sequence[ArrayLike]
Counts = list[Array]
"""Per stratum: (R, n), how often each of its n scores is in each of R resamples."""

RESAMPLES = 2000
LEVEL = 0.95
CHUNK = 1 << 17
"""Counts held at once: they stay in the cache, and long lists of scores do not fill the memory."""


@dataclass(frozen=True)
class Estimate:
    """A value and its percentile interval."""

    value: float
    low: float
    high: float


def mean(scores: Strata, rng: np.random.Generator, weights: ArrayLike | None = None) -> Estimate:
    """Mean over strata of their means; `weights` of the strata add up to 1 and are equal unless given."""
    groups = _groups(scores)
    share = np.full(len(groups), 1 / len(groups)) if weights is None else np.asarray(weights, np.float64).ravel()
    if share.shape != (len(groups),) or not np.isclose(share.sum(), 1):
        raise ValueError(f"{len(groups)} strata need as many weights, and these add up to 1; got {share}")
    return _bootstrap(lambda counts: share @ _means(counts, groups), [groups], rng)


def iqm(scores: Strata, rng: np.random.Generator) -> Estimate:
    """Interquartile mean of all scores together: the mean without the lowest and the highest quarter.

    Where four does not divide the number of scores, less is cut, as in `scipy.stats.trim_mean`.
    """
    groups = _groups(scores)
    pooled = np.concatenate(groups)
    order, cut = np.argsort(pooled), pooled.size // 4

    def statistic(counts: Counts) -> Array:
        upto = np.cumsum(np.concatenate(counts, axis=1)[:, order], axis=1)  # (R, n): scores drawn up to the i-th lowest
        kept = np.diff(np.clip(upto, cut, pooled.size - cut), axis=1, prepend=cut)
        return kept @ pooled[order] / (pooled.size - 2 * cut)

    return _bootstrap(statistic, [groups], rng)


def probability_of_improvement(ours: Strata, theirs: Strata, rng: np.random.Generator) -> Estimate:
    """Probability that a score of ours exceeds one of theirs in its stratum, ties counted half; mean over strata."""
    x, y = _groups(ours), _groups(theirs)
    _same_strata(x, y)
    wins = [(np.sign(a[:, None] - b) + 1) / 2 for a, b in zip(x, y, strict=True)]

    def statistic(drawn: Counts, against: Counts) -> Array:
        shares = [((a @ won) * b).sum(1) / won.size for a, won, b in zip(drawn, wins, against, strict=True)]
        return np.mean(shares, axis=0)

    return _bootstrap(statistic, [x, y], rng)


def paired_difference(ours: Strata, theirs: Strata, rng: np.random.Generator) -> Estimate:
    """Mean of ours minus theirs, where the i-th scores of a stratum share their seeds: what both find hard cancels."""
    x, y = _groups(ours), _groups(theirs)
    _same_strata(x, y)
    if any(a.size != b.size for a, b in zip(x, y, strict=True)):
        raise ValueError("paired scores come in pairs: leave out seeds that only one side has")
    return mean([a - b for a, b in zip(x, y, strict=True)], rng)


def normalised(scores: Strata, random: Strata, expert: Strata, rng: np.random.Generator) -> Estimate:
    """(score - random) / (expert - random) of the means of each stratum, averaged over strata.

    All three are resampled, each by itself; a reference that is only known as a number is a list of one. If some
    resample cannot tell the references apart, the ratio has no bound and neither has the interval.
    """
    groups = [_groups(scores), _groups(random), _groups(expert)]
    _same_strata(*groups)
    if any(top.mean() <= bottom.mean() for bottom, top in zip(groups[1], groups[2], strict=True)):
        raise ValueError("the reference to normalise by must be better than its zero in every stratum")

    def statistic(*counts: Counts) -> Array:
        score, zero, one = (_means(drawn, group) for drawn, group in zip(counts, groups, strict=True))
        span = one - zero  # (strata, R)
        ratio = (score - zero) / np.where(span > 0, span, np.nan)
        return ratio.mean(0)

    return _bootstrap(statistic, groups, rng)


def resilience(faulty: Strata, clean: Strata, rng: np.random.Generator) -> Estimate:
    """Score under fault as a share of the clean score of the same agent, averaged over strata."""
    return normalised(faulty, [[0.0]] * len(clean), clean, rng)


def _groups(strata: Strata) -> list[Array]:
    groups = [np.asarray(stratum, np.float64) for stratum in strata]
    if not groups or any(group.ndim != 1 or group.size == 0 or not np.isfinite(group).all() for group in groups):
        raise ValueError("scores come as strata: a list of lists of finite numbers, none of them empty")
    return groups


def _same_strata(*samples: list[Array]) -> None:
    if len({len(sample) for sample in samples}) != 1:
        raise ValueError(f"samples to compare have the same strata, got {[len(sample) for sample in samples]} of them")


def _means(counts: Counts, groups: list[Array]) -> Array:
    """(strata, R)."""
    return np.stack([count @ group / group.size for count, group in zip(counts, groups, strict=True)])


def _bootstrap(statistic: Callable[..., Array], samples: list[list[Array]], rng: np.random.Generator) -> Estimate:
    """Value on the data and percentile interval over resamples; each sample and each stratum is drawn by itself."""
    once = [[np.ones((1, group.size)) for group in groups] for groups in samples]
    size = sum(group.size for groups in samples for group in groups)
    step = max(1, CHUNK // size)
    parts = [
        statistic(*([_draw(group.size, min(step, RESAMPLES - start), rng) for group in groups] for groups in samples))
        for start in range(0, RESAMPLES, step)
    ]
    replicas = np.concatenate(parts)
    value = float(statistic(*once)[0])
    if np.isnan(replicas).any():
        return Estimate(value, -np.inf, np.inf)
    low, high = np.quantile(replicas, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    # Where all resamples agree, rounding could put them a hair beside the value; error bars may not be negative.
    return Estimate(value, min(value, float(low)), max(value, float(high)))


def _draw(size: int, resamples: int, rng: np.random.Generator) -> Array:
    drawn = rng.integers(size, size=(resamples, size)) + size * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * size).reshape(resamples, size).astype(np.float64)
