"""How the score falls as more and more sensors fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wiser.envs.domain import references
from wiser.evaluate import statistics
from wiser.evaluate.statistics import Estimate
from wiser.report import style
from wiser.report.exhibit import Exhibit, Kind, Table, estimate_text, how_measured, missing_from
from wiser.report.results import Point, Setting, Sweep, clean_setting

TITLE = "Score against the number of failed sensors"


@dataclass(frozen=True)
class Panel:
    """One task under one fault."""

    task: str
    fault: str
    curves: dict[str, dict[int, Estimate]]
    """Mean score by method, then by number of failed sensors; what the ledger lacks is not there."""


def panels(sweep: Sweep) -> list[Panel]:
    """All tasks, each under all faults; none if the sweep has fewer than two numbers of failures besides 0."""
    if len({setting.failures for setting in sweep.faulty}) < 2:
        return []
    return [
        Panel(task, fault, {method: _curve(sweep, task, method, fault) for method in sweep.methods})
        for task in sweep.tasks
        for fault in sweep.faults
    ]


def _curve(sweep: Sweep, task: str, method: str, fault: str) -> dict[int, Estimate]:
    points = {setting.failures: sweep.points.get(setting) for setting in _settings(sweep, task, method, fault)}
    return {failures: mean_score(point) for failures, point in points.items() if point is not None}


def _settings(sweep: Sweep, task: str, method: str, fault: str) -> Iterator[Setting]:
    """The clean setting, then every number of failures at the largest intensity and proportion."""
    yield clean_setting(task, method)
    for failures in sorted({setting.failures for setting in sweep.faulty}):
        yield Setting(task, method, fault, *sweep.harshest, failures)


def mean_score(point: Point) -> Estimate:
    """Mean over seeds of the mean score."""
    return statistics.mean(point.strata, np.random.default_rng(0))


def draw(found: list[Panel]) -> Figure:
    """Tasks as rows with heights of their own, faults as columns."""
    tasks, faults = (list(dict.fromkeys(getattr(panel, name) for panel in found)) for name in ("task", "fault"))
    figure, axes = style.panels(len(tasks), len(faults), 1.45, sharex=True, sharey="row")
    for panel in found:
        row, column = tasks.index(panel.task), faults.index(panel.fault)
        _draw_panel(axes[row, column], panel, name_lines=column == len(faults) - 1)
        if row == 0:
            axes[row, column].set_title(panel.fault)
        if row == len(tasks) - 1:
            axes[row, column].set_xlabel("failed sensors")
        if column == 0:
            axes[row, column].set_ylabel(f"{style.spaced(panel.task)}\nscore")
    style.legend(figure, axes[0, 0], len(found[0].curves))
    return figure


def _draw_panel(axes: Axes, panel: Panel, name_lines: bool) -> None:
    failures = sorted({failures for curve in panel.curves.values() for failures in curve})
    for method, curve in panel.curves.items():
        # NaN where a cell is missing: the line breaks instead of bridging what nobody measured.
        value, low, high = (
            [getattr(curve[n], name) if n in curve else np.nan for n in failures] for name in ("value", "low", "high")
        )
        axes.plot(failures, value, label=method, **style.look(method))
        axes.fill_between(failures, low, high, color=style.look(method)["color"], alpha=0.16, linewidth=0)
    axes.set_xticks(failures)
    for height, name in zip(references(panel.task) or (), ("random", "expert"), strict=False):
        style.reference(axes, height, name if name_lines else "")


def key_numbers(sweep: Sweep, task: str) -> Table:
    """Scores of every method on one task: clean, and under each fault on most sensors."""
    most = max(setting.failures for setting in sweep.faulty)
    rows = []
    for method in sweep.methods:
        settings = [Setting(task, method, fault, *sweep.harshest, most) for fault in sweep.faults]
        points = [sweep.points.get(setting) for setting in (clean_setting(task, method), *settings)]
        rows.append((method, *(estimate_text(mean_score(point) if point else None) for point in points)))
    title = f"{style.spaced(task)}: score, clean and with {most} sensors broken"
    if known := references(task):
        title += f" (random policy {known[0]:.0f}, expert {known[1]:.0f})"
    return Table(title, ("method", "clean", *sweep.faults), tuple(rows))


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """The figure and its key numbers."""
    if not (found := panels(sweep)):
        return
    expected = [setting for p in found for method in p.curves for setting in _settings(sweep, p.task, method, p.fault)]
    points = [sweep.points[setting] for setting in expected if setting in sweep.points]
    intensity, proportion = sweep.harshest
    yield Exhibit(
        "failures",
        TITLE,
        f"Mean score with that many sensors broken at {100 * proportion:g} % of the steps, intensity {intensity:g}; "
        "0 is the clean cell, the same under every fault. Dashed: the scripted expert and a random policy. "
        + how_measured(points)
        + missing_from(sweep, expected),
        draw(found),
        f"Grid of line charts: {', '.join(map(style.spaced, sweep.tasks))} under {', '.join(sweep.faults)}; "
        f"one line for each of {', '.join(sweep.methods)}.",
        tuple(key_numbers(sweep, task) for task in sweep.tasks),
    )


KIND = Kind(TITLE, "It needs cells with two or more numbers of failed sensors: `wiser sweep driving-multi`.", exhibits)
