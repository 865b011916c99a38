"""Estimates with bootstrap intervals.

Scores come as strata, one list of scores per cell, task or seed. Without more, each stratum is resampled with
replacement by itself. Scores that are not independent of each other, such as those of one episode driven in many cells,
form a *cluster*: `clusters` has a label for every score, and scores with the same label, whatever their stratum, are
drawn together. Clusters with the same strata are drawn among themselves, so that a resample has as many scores of each
stratum as the data; a cluster that no other shares all its strata with is always drawn once, and adds no width.

Strata of agents from several training runs have `runs`, a label each: (what was trained, which run of it). Then runs
are drawn too, with replacement among those of the same thing, and all strata of a run count as often as it was drawn.
Runs and episodes are crossed, not nested: every run drives the same episodes, and both are drawn at once (Owen, 2007).

A resample is held as *counts*, how often each score was drawn: then every statistic here is a few matrix products over
all resamples at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Strata = Sequence[ArrayLike]
Clusters = Sequence[Sequence[Hashable]]
"""Per stratum, the label of the cluster of each of its scores."""
Runs = Sequence[tuple[Hashable, Hashable]]
"""Per stratum: what was trained, and which run of it this is."""
Counts = list[Array]
"""Per stratum: (R, n), how often each of its n scores is in each of R resamples."""
Weights = Array
"""(strata, R): how often the training run of each stratum is in each resample."""
Units = list[tuple[tuple[int, ...], NDArray[np.intp]]]
"""Clusters drawn among themselves: the stratum of each of their scores, and its places there (scores, clusters)."""

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


def mean(
    scores: Strata,
    rng: np.random.Generator,
    weights: ArrayLike | None = None,
    clusters: Clusters | None = None,
    runs: Runs | None = None,
) -> Estimate:
    """Mean over strata of their means; `weights` of the strata add up to 1 and are equal unless given."""
    groups = _groups(scores)
    share = np.full(len(groups), 1 / len(groups)) if weights is None else np.asarray(weights, np.float64).ravel()
    if share.shape != (len(groups),) or not np.isclose(share.sum(), 1):
        raise ValueError(f"{len(groups)} strata need as many weights, and these add up to 1; got {share}")
    return _bootstrap(
        lambda counts, often: _over_runs(_means(counts, groups), often, share), groups, rng, clusters, runs
    )


def iqm(
    scores: Strata, rng: np.random.Generator, clusters: Clusters | None = None, runs: Runs | None = None
) -> Estimate:
    """Interquartile mean of all scores together: the mean without the lowest and the highest quarter.

    Where four does not divide the number of scores, less is cut, as in `scipy.stats.trim_mean`. Runs have as many
    scores each.
    """
    groups = _groups(scores)
    pooled = np.concatenate(groups)
    order, cut = np.argsort(pooled), pooled.size // 4

    def statistic(counts: Counts, often: Weights) -> Array:
        drawn = np.concatenate([count * times[:, None] for count, times in zip(counts, often, strict=True)], axis=1)
        upto = np.cumsum(drawn[:, order], axis=1)  # (R, n): scores drawn up to the i-th lowest
        kept = np.diff(np.clip(upto, cut, pooled.size - cut), axis=1, prepend=cut)
        return kept @ pooled[order] / (pooled.size - 2 * cut)

    return _bootstrap(statistic, groups, rng, clusters, runs)


def probability_of_improvement(
    ours: Strata,
    theirs: Strata,
    rng: np.random.Generator,
    clusters: tuple[Clusters, Clusters] | None = None,
    runs: Runs | None = None,
) -> Estimate:
    """Probability that a score of ours exceeds one of theirs in its stratum, ties counted half; mean over strata.

    `clusters` has the labels of our scores and those of theirs: episodes in both are drawn together.
    """
    x, y = _groups(ours), _groups(theirs)
    _same_strata(x, y)
    wins = [(np.sign(a[:, None] - b) + 1) / 2 for a, b in zip(x, y, strict=True)]

    def statistic(counts: Counts, often: Weights) -> Array:
        drawn, against = counts[: len(x)], counts[len(x) :]
        shares = [((a @ won) * b).sum(1) / won.size for a, won, b in zip(drawn, wins, against, strict=True)]
        return _over_runs(np.stack(shares), often[: len(x)])

    return _bootstrap(statistic, x + y, rng, clusters and [*clusters[0], *clusters[1]], runs and [*runs, *runs])


def paired_difference(
    ours: Strata,
    theirs: Strata,
    rng: np.random.Generator,
    weights: ArrayLike | None = None,
    clusters: Clusters | None = None,
    runs: Runs | None = None,
) -> Estimate:
    """Mean of ours minus theirs, where the i-th scores of a stratum share their seeds: what both find hard cancels.

    Weights are those of `mean`; clusters are those of the pairs.
    """
    x, y = _groups(ours), _groups(theirs)
    _same_strata(x, y)
    if any(a.size != b.size for a, b in zip(x, y, strict=True)):
        raise ValueError("paired scores come in pairs: leave out seeds that only one side has")
    return mean([a - b for a, b in zip(x, y, strict=True)], rng, weights, clusters, runs)


def resilience(
    scores: Strata,
    clean: Strata,
    floor: float,
    rng: np.random.Generator,
    clusters: tuple[Clusters, Clusters] | None = None,
    runs: Runs | None = None,
) -> Estimate | None:
    """(score - floor) / (clean score - floor) of the means of each stratum, averaged over strata.

    The floor is the score of an agent that achieves nothing, such as a random policy. None if the clean score of some
    stratum is no better; if that is so in some resample only, the ratio has no bound and neither has the interval.
    `clusters` has the labels of the scores and those of the clean scores: episodes in both are drawn together.
    """
    x, y = _groups(scores), _groups(clean)
    _same_strata(x, y)
    if any(group.mean() <= floor for group in y):
        return None

    def statistic(counts: Counts, often: Weights) -> Array:
        left, whole = _means(counts[: len(x)], x) - floor, _means(counts[len(x) :], y) - floor  # (strata, R)
        ratio = left / np.where(whole > 0, whole, np.nan)
        return _over_runs(ratio, often[: len(x)])

    return _bootstrap(statistic, x + y, rng, clusters and [*clusters[0], *clusters[1]], runs and [*runs, *runs])


def summary(
    of: Callable[[Sequence[Mapping[str, float]]], float],
    episodes: Sequence[Sequence[Mapping[str, float]]],
    rng: np.random.Generator,
) -> Estimate:
    """A figure of many episodes that is no mean: of each stratum's episodes, resampled as whole episodes; mean over
    strata."""
    if not episodes or not all(episodes):
        raise ValueError("a summary is taken over strata of episodes, none of them empty")

    def resample() -> float:
        return float(np.mean([of([group[i] for i in rng.integers(len(group), size=len(group))]) for group in episodes]))

    value = float(np.mean([of(group) for group in episodes]))
    low, high = np.quantile([resample() for _ in range(RESAMPLES)], ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Estimate(value, min(value, float(low)), max(value, float(high)))


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


def _over_runs(values: Array, often: Weights, share: Array | None = None) -> Array:
    """(R,): mean of (strata, R), weighted by how often the run of each stratum was drawn, and by its share if given."""
    weights = often / len(often) if share is None else often * share[:, None]
    if (often == 1).all():
        return (values * weights).sum(0)
    return np.where(weights > 0, values * weights, 0.0).sum(0) / weights.sum(0)


def _bootstrap(
    statistic: Callable[[Counts, Weights], Array],
    groups: list[Array],
    rng: np.random.Generator,
    clusters: Clusters | None = None,
    runs: Runs | None = None,
) -> Estimate:
    """Value on the data and percentile interval over resamples."""
    units = _units(groups, clusters)
    step, parts = max(1, CHUNK // sum(group.size for group in groups)), []
    for start in range(0, RESAMPLES, step):
        resamples = min(step, RESAMPLES - start)
        counts = _draw(groups, units, resamples, rng)
        parts.append(statistic(counts, _draw_runs(runs, len(groups), resamples, rng)))
    replicas = np.concatenate(parts)
    value = float(statistic([np.ones((1, group.size)) for group in groups], np.ones((len(groups), 1)))[0])
    if np.isnan(replicas).any():
        return Estimate(value, -np.inf, np.inf)
    low, high = np.quantile(replicas, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    # Where all resamples agree, rounding could put them a hair beside the value; error bars may not be negative.
    return Estimate(value, min(value, float(low)), max(value, float(high)))


def _units(groups: list[Array], clusters: Clusters | None) -> Units:
    """What is drawn among itself: clusters with the same strata, or the scores of each stratum if there are none."""
    if clusters is None:
        return [((stratum,), np.arange(group.size)[None]) for stratum, group in enumerate(groups)]
    if [len(labels) for labels in clusters] != [group.size for group in groups]:
        raise ValueError("every score belongs to a cluster: give as many labels as scores, stratum by stratum")
    members: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    for stratum, labels in enumerate(clusters):
        for place, label in enumerate(labels):
            members[label].append((stratum, place))
    alike: dict[tuple[int, ...], list[list[int]]] = defaultdict(list)
    for scores in members.values():
        alike[tuple(stratum for stratum, _ in scores)].append([place for _, place in scores])
    return [(strata, np.array(places).T) for strata, places in alike.items()]


def _draw(groups: list[Array], units: Units, resamples: int, rng: np.random.Generator) -> Counts:
    """As many clusters as there are of each kind, with replacement; every score as often as its cluster."""
    counts = [np.empty((resamples, group.size)) for group in groups]
    for strata, places in units:
        size = places.shape[1]
        drawn = rng.integers(size, size=(resamples, size)) + size * np.arange(resamples)[:, None]
        often = np.bincount(drawn.ravel(), minlength=resamples * size).reshape(resamples, size)
        for stratum, where in zip(strata, places, strict=True):
            counts[stratum][:, where] = often
    return counts


def _draw_runs(runs: Runs | None, strata: int, resamples: int, rng: np.random.Generator) -> Weights:
    """As many runs as there are of each thing that was trained; a single one is always drawn once."""
    often = np.ones((strata, resamples))
    if runs is None:
        return often
    if len(runs) != strata:
        raise ValueError(f"{strata} strata need as many labels of training runs, got {len(runs)}")
    for what in dict.fromkeys(thing for thing, _ in runs):
        known = list(dict.fromkeys(run for thing, run in runs if thing == what))
        if len(known) > 1:
            drawn = rng.multinomial(len(known), np.full(len(known), 1 / len(known)), resamples).T  # (runs, R)
            for stratum, (thing, run) in enumerate(runs):
                if thing == what:
                    often[stratum] = drawn[known.index(run)]
    return often
