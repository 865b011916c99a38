"""One method against every other, in the same episodes: what both find hard cancels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wiser.envs.domain import references
from wiser.evaluate import statistics
from wiser.evaluate.statistics import Estimate
from wiser.report import style
from wiser.report.exhibit import POOLED, Exhibit, Kind, Table, describe, estimate_text, how_measured
from wiser.report.results import Pairs, Setting, Sweep, clean_setting, pairs, pool

TITLE = "Side by side"
CLEAN, EVERY = "clean", "all faults"
NAMED = 12
"""Settings that are worse than with the first method and named, before the rest is counted."""


def meetings(sweep: Sweep, rival: str) -> list[tuple[Setting, Pairs]]:
    """Every disturbed setting that the last method and a rival were both driven in."""
    last, found = sweep.contenders[-1], []
    for setting in sweep.faulty:
        if setting.contender == last:
            other = sweep.points.get(setting._replace(contender=rival))
            if other is not None and (common := pairs(sweep.points[setting], other)):
                found.append((setting, common))
    return found


def difference(found: Sequence[tuple[Setting, Pairs]], normalised: bool = False) -> Estimate | None:
    """Mean over settings of the difference; episodes that settings share are drawn together."""
    if not found:
        return None
    both = pool(found, normalised)
    return statistics.paired_difference(
        both.ours, both.theirs, np.random.default_rng(0), clusters=both.clusters, runs=both.runs
    )


def table(sweep: Sweep, tasks: Sequence[str], rivals: Sequence[str], title: str, normalised: bool = False) -> Table:
    """Differences of the score: clean, under every fault, and over all of them."""
    rows = []
    for rival in rivals:
        found = [one for one in meetings(sweep, rival) if one[0].task in tasks]
        groups = [
            _clean_meetings(sweep, rival, tasks),
            *([one for one in found if one[0].disturbance == fault] for fault in sweep.disturbances),
            found,
        ]
        digits = 3 if normalised else 0
        rows.append((rival, *(estimate_text(difference(group, normalised), digits) for group in groups)))
    return Table(title, ("method", CLEAN, *sweep.disturbances, EVERY), tuple(rows))


def _clean_meetings(sweep: Sweep, rival: str, tasks: Sequence[str]) -> list[tuple[Setting, Pairs]]:
    found = []
    for task in tasks:
        setting = clean_setting(task, sweep.contenders[-1])
        ours, theirs = (sweep.points.get(one) for one in (setting, clean_setting(task, rival)))
        if ours and theirs and (common := pairs(ours, theirs)):
            found.append((setting, common))
    return found


def worse(sweep: Sweep) -> list[str]:
    """Settings in which the last method is worse than the first, with an interval that says so."""
    first = sweep.contenders[0]
    judged = [(setting, difference([(setting, pair)])) for setting, pair in meetings(sweep, first)]
    return [describe(setting) for setting, estimate in judged if estimate is not None and estimate.high < 0]


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """Tables of differences: one per task, and one of all tasks that have reference scores."""
    *rivals, last = sweep.contenders
    rivals = [rival for rival in rivals if meetings(sweep, rival)]
    if not rivals:
        return
    title = f"score of {last}, less that of"
    tables = [table(sweep, [task], rivals, f"{style.spaced(task)}: {title}") for task in sweep.tasks]
    if all(map(references, sweep.tasks)) and len(sweep.tasks) > 1:
        title = f"All tasks: score of {last} as a share of the way from a random policy to the expert, less that of"
        tables.append(table(sweep, sweep.tasks, rivals, title, normalised=True))
    points = [sweep.points[setting] for setting, _ in meetings(sweep, rivals[0])]
    yield Exhibit(
        "rivals",
        TITLE,
        f"Mean score of {last} less that of every other method in the same settings and episodes, over all numbers of "
        f"failed sensors. {_losses(sweep)} {how_measured(points, POOLED)}",
        tables=tuple(tables),
    )


def _losses(sweep: Sweep) -> str:
    """A sentence on the settings that the first method is better in."""
    first, last = sweep.contenders[0], sweep.contenders[-1]
    count, found = len(meetings(sweep, first)), worse(sweep)
    listed = "; ".join(found[:NAMED]) + ("; ..." if len(found) > NAMED else "")
    which = f" ({listed})" if found else ""
    return (
        f"Of {count} settings with something wrong, {last} is worse than {first} by its interval in {len(found)}{which}"
        f"; where both were equal, chance would give {0.025 * count:.0f}."
    )


KIND = Kind(TITLE, "It needs two methods in the same disturbed settings.", exhibits)
