"""Scores under every fault at a few levels of one thing: how badly it breaks a sensor, or how often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wiser.evaluate import statistics
from wiser.evaluate.statistics import Estimate
from wiser.report import style
from wiser.report.exhibit import Exhibit, Kind, Table, estimate_text, how_measured, missing_from, sensors
from wiser.report.failures import mean_score
from wiser.report.results import Point, Setting, Sweep, clean_setting, pairs

TITLE = "Score at several levels of noise"
CLEAN = "clean"


class Level(NamedTuple):
    """One value of what the sweep varies."""

    axis: str
    """intensity or proportion."""
    value: float
    intensity: float
    proportion: float

    @property
    def title(self) -> str:
        """In a few words."""
        return f"{self.axis} {self.value:g}"


def levels(sweep: Sweep) -> list[Level]:
    """All of them, if it is either the intensity or the proportion that the sweep varies, and nothing else."""
    harms = sorted({(setting.intensity, setting.proportion) for setting in sweep.faulty})
    varied = [axis for axis, values in zip(("intensity", "proportion"), zip(*harms, strict=True), strict=False)
              if len(set(values)) > 1]  # fmt: skip
    if len(varied) != 1 or len({setting.failures for setting in sweep.faulty}) != 1:
        return []
    place = ("intensity", "proportion").index(varied[0])
    return [Level(varied[0], harm[place], *harm) for harm in harms]


def settings_at(sweep: Sweep, task: str, contender: str, level: Level) -> dict[str, Setting]:
    """The clean setting and one for each fault, by name."""
    failures = sweep.faulty[0].failures
    harmed = {
        what: Setting(task, contender, what, level.intensity, level.proportion, failures) for what in sweep.disturbances
    }
    return {CLEAN: clean_setting(task, contender), **harmed}


def difference(sweep: Sweep, ours: Setting, first: str) -> Estimate | None:
    """Mean score less that of the first method in the same episodes; None where one of them was not driven."""
    mine, theirs = sweep.points.get(ours), sweep.points.get(ours._replace(contender=first))
    both = pairs(mine, theirs) if mine and theirs else None
    if both is None:
        return None
    return statistics.paired_difference(
        both.ours, both.theirs, np.random.default_rng(0), clusters=both.episodes, runs=both.runs
    )


def draw(sweep: Sweep, found: list[Level]) -> Figure:
    """Tasks as rows, levels as columns; beside each other the methods under every fault."""
    figure, axes = style.panels(len(sweep.tasks), len(found), 1.6, sharex=True, sharey="row")
    for row, task in enumerate(sweep.tasks):
        for column, level in enumerate(found):
            _draw_panel(axes[row, column], sweep, task, level)
            if row == 0:
                axes[row, column].set_title(level.title)
        axes[row, 0].set_ylabel(f"{style.spaced(task)}\nscore")
    style.legend(figure, axes[0, 0], min(5, len(sweep.contenders)))
    return figure


def _draw_panel(axes: Axes, sweep: Sweep, task: str, level: Level) -> None:
    looks, methods = style.looks_of_methods(sweep.contenders), sweep.contenders
    for place, method in enumerate(methods):
        shift = 0.7 * ((place + 0.5) / len(methods) - 0.5)
        named = list(settings_at(sweep, task, method, level).values())
        measured = [(x, mean_score(sweep.points[s])) for x, s in enumerate(named) if s in sweep.points]
        if not measured:
            continue
        value, low, high = (np.array([getattr(e, name) for _, e in measured]) for name in ("value", "low", "high"))
        axes.errorbar(
            [x + shift for x, _ in measured], value, [value - low, high - value], label=method, linestyle="none",
            elinewidth=0.9, **looks[method],
        )  # fmt: skip
    names = [CLEAN, *sweep.disturbances]
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right", rotation_mode="anchor")
    for x in range(len(names) - 1):
        axes.axvline(x + 0.5, color=style.INK, linewidth=0.4, alpha=0.25)


def means(sweep: Sweep, task: str, found: list[Level]) -> Table:
    """Mean score of every method at every level."""
    rows = [
        (method, level.title, *(_text(sweep.points.get(s)) for s in settings_at(sweep, task, method, level).values()))
        for level in found
        for method in sweep.contenders
    ]
    title = f"{style.spaced(task)}: mean score"
    return Table(title, ("method", "at", CLEAN, *sweep.disturbances), tuple(rows))


def differences(sweep: Sweep, task: str, found: list[Level]) -> Table:
    """What every other method has more than the first."""
    first = sweep.contenders[0]
    rows = []
    for level in found:
        for method in sweep.contenders[1:]:
            named = settings_at(sweep, task, method, level).values()
            rows.append((method, level.title, *(estimate_text(difference(sweep, s, first)) for s in named)))
    title = f"{style.spaced(task)}: score less that of {first} in the same episodes"
    return Table(title, ("method", "at", CLEAN, *sweep.disturbances), tuple(rows))


def _text(point: Point | None) -> str:
    return estimate_text(mean_score(point) if point else None)


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """The figure with two tables for each task."""
    found = levels(sweep)
    if not found:
        return
    grids = [settings_at(sweep, task, c, level) for task in sweep.tasks for c in sweep.contenders for level in found]
    expected = [setting for grid in grids for setting in grid.values()]
    points = [sweep.points[setting] for setting in expected if setting in sweep.points]
    others = {f"{level.proportion:g}" if level.axis == "intensity" else f"{level.intensity:g}" for level in found}
    other = "proportion" if found[0].axis == "intensity" else "intensity"
    compared = (differences,) if len(sweep.contenders) > 1 else ()
    yield Exhibit(
        "levels",
        TITLE,
        f"Mean score with {sensors(sweep.faulty[0].failures)} broken, at {other} {', '.join(sorted(others))}. "
        + how_measured(points)
        + missing_from(sweep, expected),
        draw(sweep, found),
        f"Scores of {', '.join(sweep.contenders)} on clean sensors and under {', '.join(sweep.disturbances)}, at "
        f"{' and '.join(level.title for level in found)}.",
        tuple(make(sweep, task, found) for task in sweep.tasks for make in (means, *compared)),
    )


KIND = Kind(
    TITLE,
    "It needs cells with several intensities or several proportions, but not both, such as "
    "`proportions: [0.75, 0.875]` in a plan.",
    exhibits,
)
