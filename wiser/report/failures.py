"""How the score, and whatever else episodes are judged by, changes as more and more sensors fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wiser.envs.domain import measures_of, references
from wiser.evaluate import statistics
from wiser.evaluate.statistics import Estimate
from wiser.report import style
from wiser.report.exhibit import Exhibit, Kind, Table, dashed, estimate_text, how_measured, missing_from, sensors
from wiser.report.results import Point, Setting, Sweep, clean_setting

SCORE = "score"
TITLE = "Score against the number of failed sensors"


@dataclass(frozen=True)
class Panel:
    """One task under one disturbance."""

    task: str
    disturbance: str
    curves: dict[str, dict[int, Estimate]]
    """Mean of a measure by contender, then by number of failed sensors; what the ledger lacks is not there."""


def panels(sweep: Sweep, measure: str = SCORE) -> list[Panel]:
    """All tasks, each under all disturbances; none if it is not the number of failed sensors that the sweep varies."""
    if not _varies_failures(sweep):
        return []
    return [
        Panel(task, what, {name: _curve(sweep, task, name, what, measure) for name in sweep.contenders})
        for task in sweep.tasks
        for what in sweep.disturbances
    ]


def _varies_failures(sweep: Sweep) -> bool:
    """Whether there are two numbers of failures, or one to set against clean sensors and nothing else that varies."""
    numbers = {setting.failures for setting in sweep.faulty}
    harms = {(setting.intensity, setting.proportion) for setting in sweep.faulty}
    clean = any(setting.clean for setting in sweep.points)
    return len(numbers) > 1 or (clean and len(numbers) == len(harms) == 1)


def _curve(sweep: Sweep, task: str, contender: str, disturbance: str, measure: str) -> dict[int, Estimate]:
    points = {s.failures: sweep.points.get(s) for s in _settings(sweep, task, contender, disturbance)}
    return {n: mean_of(point, measure) for n, point in points.items() if point is not None and point.strata_of(measure)}


def _settings(sweep: Sweep, task: str, contender: str, disturbance: str) -> Iterator[Setting]:
    """The clean setting, then every number of failures at the largest intensity and proportion."""
    yield clean_setting(task, contender)
    for failures in sorted({setting.failures for setting in sweep.faulty}):
        yield Setting(task, contender, disturbance, *sweep.harshest, failures)


def mean_of(point: Point, measure: str) -> Estimate:
    """Mean over seeds and training runs of the mean of a measure."""
    return statistics.mean(
        point.strata_of(measure),
        np.random.default_rng(0),
        clusters=point.clusters_of(measure),
        runs=point.runs_of(measure),
    )


def mean_score(point: Point) -> Estimate:
    """Mean over seeds of the mean score."""
    return mean_of(point, SCORE)


def draw(found: list[Panel], measure: str = SCORE) -> Figure:
    """Tasks as rows with heights of their own, disturbances as columns."""
    tasks, whats = (list(dict.fromkeys(getattr(panel, name) for panel in found)) for name in ("task", "disturbance"))
    figure, axes = style.panels(len(tasks), len(whats), 1.45, sharex=True, sharey="row")
    for panel in found:
        row, column = tasks.index(panel.task), whats.index(panel.disturbance)
        _draw_panel(axes[row, column], panel)
        if measure == SCORE:
            _draw_references(axes[row, column], panel.task, named=column == len(whats) - 1)
        if row == 0:
            axes[row, column].set_title(panel.disturbance)
        if column == 0:
            axes[row, column].set_ylabel(f"{style.spaced(panel.task)}\n{_word(panel.task, measure)}")
    axes[-1, len(whats) // 2].set_xlabel("failed sensors")
    style.legend(figure, axes[0, 0], len(found[0].curves))
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    failures = sorted({failures for curve in panel.curves.values() for failures in curve})
    looks = style.looks_of_methods(panel.curves)
    for contender, curve in panel.curves.items():
        # NaN where a cell is missing: the line breaks instead of bridging what nobody measured.
        value, low, high = (
            [getattr(curve[n], name) if n in curve else np.nan for n in failures] for name in ("value", "low", "high")
        )
        axes.plot(failures, value, label=contender, **looks[contender])
        axes.fill_between(failures, low, high, color=looks[contender]["color"], alpha=0.16, linewidth=0)
    axes.set_xticks(failures)


def _draw_references(axes: Axes, task: str, named: bool) -> None:
    for height, name in zip(references(task) or (), ("random", "expert"), strict=False):
        style.reference(axes, height, name if named else "")


def _word(task: str, measure: str) -> str:
    """What the mean of a measure is called."""
    declared = measures_of(task)
    return declared[measure].title if measure in declared else measure


def key_numbers(sweep: Sweep, task: str, measure: str = SCORE) -> Table:
    """Means of every contender on one task: clean, and under each disturbance of most sensors."""
    most = max(setting.failures for setting in sweep.faulty)
    rows = []
    for contender in sweep.contenders:
        settings = [Setting(task, contender, what, *sweep.harshest, most) for what in sweep.disturbances]
        points = [sweep.points.get(setting) for setting in (clean_setting(task, contender), *settings)]
        rows.append((contender, *(_text(point, measure) for point in points)))
    title = f"{style.spaced(task)}: {_word(task, measure)}, clean and with {sensors(most)} broken"
    if measure == SCORE and (known := references(task)):
        title += f" (random policy {known[0]:.0f}, expert {known[1]:.0f})"
    return Table(title, ("method", "clean", *sweep.disturbances), tuple(rows))


def _text(point: Point | None, measure: str) -> str:
    if point is None or not point.strata_of(measure):
        return estimate_text(None)
    return estimate_text(mean_of(point, measure), 0 if measure == SCORE else 2)


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """The figure and its key numbers, of the score and of every measure that the episodes have."""
    if not panels(sweep):
        return
    yield _exhibit(sweep, SCORE, "failures", TITLE)
    declared = {name: measure for task in sweep.tasks for name, measure in measures_of(task).items()}
    for measure in sweep.measures:
        if measure in declared and declared[measure].detail:
            continue  # a summary speaks for it, and tables of its own
        word = _word(sweep.tasks[0], measure)
        title = f"{word[0].upper()}{word[1:]} against the number of failed sensors"
        yield _exhibit(sweep, measure, f"failures-{style.slug(measure)}", title)


def _exhibit(sweep: Sweep, measure: str, name: str, title: str) -> Exhibit:
    found = panels(sweep, measure)
    expected = [s for p in found for c in sweep.contenders for s in _settings(sweep, p.task, c, p.disturbance)]
    points = [sweep.points[setting] for setting in expected if setting in sweep.points]
    intensity, proportion = sweep.harshest
    lines = dashed(sweep.tasks) if measure == SCORE else ""
    return Exhibit(
        name,
        title,
        f"Mean {_word(sweep.tasks[0], measure)} with that many sensors broken at {100 * proportion:g} % of the steps, "
        f"intensity {intensity:g}; 0 is the clean cell, the same under every fault. {lines}"
        + how_measured(points)
        + missing_from(sweep, expected),
        draw(found, measure),
        f"Grid of line charts: {', '.join(map(style.spaced, sweep.tasks))} under {', '.join(sweep.disturbances)}; "
        f"one line for each of {', '.join(sweep.contenders)}.",
        tuple(key_numbers(sweep, task, measure) for task in sweep.tasks),
    )


KIND = Kind(
    TITLE, "It needs cells with several numbers of failed sensors, such as `failures: [0, 1, 2]` in a plan.", exhibits
)
