"""All that breaks, taken together: one line for each contender."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wiser.envs.domain import references
from wiser.evaluate import statistics
from wiser.report.exhibit import POOLED, Exhibit, Kind, Table, estimate_text, how_measured
from wiser.report.results import Pairs, Setting, Sweep, pairs, pool

TITLE = "All disturbances together"


def rivalries(sweep: Sweep, contender: str) -> list[tuple[Setting, Pairs]]:
    """Every disturbed setting that a contender and the first one both have, in tasks with reference scores."""
    found = []
    for setting in sweep.faulty:
        if setting.contender == contender and references(setting.task):
            first = sweep.points.get(setting._replace(contender=sweep.contenders[0]))
            if first is not None and (common := pairs(sweep.points[setting], first)):
                found.append((setting, common))
    return found


def row(contender: str, found: list[tuple[Setting, Pairs]]) -> tuple[str, ...]:
    """Mean and interquartile mean of the normalised score, and how often it exceeds that of the first contender."""
    ours, theirs, clusters, runs = pool(found, normalised=True)
    dice = np.random.default_rng
    return (
        contender,
        str(len(found)),
        estimate_text(statistics.mean(ours, dice(0), clusters=clusters, runs=runs), 2),
        estimate_text(statistics.iqm(ours, dice(0), clusters, runs), 2),
        estimate_text(statistics.probability_of_improvement(ours, theirs, dice(0), (clusters, clusters), runs), 2),
    )


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """One table."""
    found = {contender: rivalries(sweep, contender) for contender in sweep.contenders}
    found = {contender: settings for contender, settings in found.items() if settings}
    if len(found) < 2:
        return
    first = sweep.contenders[0]
    header = ("method", "settings", "mean", "interquartile mean", f"better than {first}")
    points = [sweep.points[setting] for settings in found.values() for setting, _ in settings]
    yield Exhibit(
        "overall",
        TITLE,
        "Scores as a share of the way from a random policy to the expert, over all settings with something wrong "
        f"and that {first} was driven in too. Interquartile mean: without the lowest and the highest quarter of all "
        f"episodes. Better than {first}: probability that an episode scores higher than one of {first} in the same "
        f"setting, ties counted half. {how_measured(points, POOLED)}",
        tables=(Table(TITLE, header, tuple(row(contender, settings) for contender, settings in found.items())),),
    )


KIND = Kind(
    TITLE, "It needs two contenders in the same disturbed settings, and reference scores of the task.", exhibits
)
