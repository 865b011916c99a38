"""Figures of many episodes that are no mean, as a domain declares them, and the details that they sum up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wiser.envs.domain import Measure, Summary, domain_of, measures_of
from wiser.evaluate import statistics
from wiser.evaluate.records import CLEAN
from wiser.evaluate.statistics import Estimate
from wiser.report import style
from wiser.report.exhibit import NOTHING, Exhibit, Kind, Table, estimate_text, how_measured
from wiser.report.results import Point, Setting, Sweep, clean_setting

TITLE = "Summaries"


def settings(sweep: Sweep, task: str, contender: str) -> dict[str, Point | None]:
    """By disturbance, clean first: what was measured at most failures and greatest harm."""
    found: dict[str, Point | None] = {CLEAN: sweep.points.get(clean_setting(task, contender))}
    most = max((setting.failures for setting in sweep.faulty), default=0)
    for what in sweep.disturbances:
        found[what] = sweep.points.get(Setting(task, contender, what, *sweep.harshest, most))
    return found


def table(sweep: Sweep, task: str, name: str) -> Table:
    """One summary of every contender."""
    summary = domain_of(task).summaries[name]
    rows = []
    for contender in sweep.contenders:
        points = settings(sweep, task, contender).values()
        rows.append((contender, *(estimate_text(_estimate(summary, point), 2) for point in points)))
    return Table(f"{style.spaced(task)}: {name}", ("method", "clean", *sweep.disturbances), tuple(rows))


def details(sweep: Sweep, task: str, disturbance: str) -> Table:
    """Means of the measures that are details, a row each."""
    points = {contender: settings(sweep, task, contender)[disturbance] for contender in sweep.contenders}
    declared = {name: measure for name, measure in measures_of(task).items() if measure.detail}
    rows = [
        (measure.title, *(_text(measure, point.strata_of(name)) if point else NOTHING for point in points.values()))
        for name, measure in declared.items()
    ]
    where = "clean" if disturbance == CLEAN else disturbance
    return Table(f"{style.spaced(task)}: {where}", ("", *points), tuple(rows))


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """A table for every summary of every task, and one for the details under each disturbance."""
    summed = {task: list(domain_of(task).summaries) for task in sweep.tasks}
    tables = [table(sweep, task, name) for task, names in summed.items() for name in names]
    if not tables:
        return
    for task in (task for task, names in summed.items() if names and _has_details(task)):
        tables += [details(sweep, task, what) for what in (CLEAN, *sweep.disturbances)]
    yield Exhibit(
        "summaries",
        ", ".join(dict.fromkeys(name for names in summed.values() for name in names)),
        "Taken over all episodes of a cell at once; below it the details, where there are any: means over episodes. "
        + how_measured(sweep.points.values()),
        tables=tuple(tables),
    )


def _has_details(task: str) -> bool:
    return any(measure.detail for measure in measures_of(task).values())


def _estimate(summary: Summary, point: Point | None) -> Estimate | None:
    return None if point is None else statistics.summary(summary, point.measured, np.random.default_rng(0))


def _text(measure: Measure, strata: list[list[float]]) -> str:
    """The mean over all episodes that have it."""
    return measure.text(float(np.mean(np.concatenate(strata)))) if strata else NOTHING


KIND = Kind(TITLE, "It needs a task whose domain declares summaries.", exhibits)
