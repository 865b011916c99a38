"""What each method keeps of the unguarded agent's clean performance when most sensors are broken."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wiser.envs.domain import floor_of
from wiser.evaluate import statistics
from wiser.evaluate.statistics import Estimate
from wiser.report import style
from wiser.report.exhibit import (
    NOTHING,
    POOLED,
    Exhibit,
    Kind,
    Table,
    estimate_text,
    figure_text,
    harm,
    how_measured,
    missing_from,
)
from wiser.report.results import Point, Setting, Sweep, clean_setting, pairs

TITLE = "Resilience"
CLEAN = "clean"
Shares = dict[tuple[str, str], Estimate | None]
"""By method and fault, or `CLEAN`; None where it cannot be told."""


def shares(sweep: Sweep, task: str) -> Shares:
    """What is left of the clean score of the first method, clean and per fault at most failures and greatest harm.

    One yardstick for all: against its own clean score, a method that loses on clean sensors would look robust.
    """
    whole = sweep.clean(task, sweep.contenders[0])
    return {
        (method, fault): resilience(task, sweep.points.get(_setting(sweep, task, method, fault)), whole)
        for method in sweep.contenders
        for fault in (CLEAN, *sweep.disturbances)
    }


def resilience(task: str, faulty: Point | None, clean: Point | None) -> Estimate | None:
    """(faulty - random) / (clean - random) over the episodes of both.

    None without such episodes or a random policy's score, or if the clean score is no better than that.
    """
    floor = floor_of(task)
    if faulty is None or clean is None or floor is None:
        return None
    if (both := pairs(faulty, clean)) is None:
        return None
    clusters = both.episodes, both.episodes
    return statistics.resilience(both.ours, both.theirs, floor, np.random.default_rng(0), clusters, both.runs)


def _setting(sweep: Sweep, task: str, method: str, fault: str) -> Setting:
    if fault == CLEAN:
        return clean_setting(task, method)
    return Setting(task, method, fault, *sweep.harshest, max(setting.failures for setting in sweep.faulty))


def draw(found: dict[str, Shares]) -> Figure:
    """One heat map per task: methods as rows, faults as columns."""
    methods, faults = (list(dict.fromkeys(key[i] for key in next(iter(found.values())))) for i in (0, 1))
    figure, axes = style.panels(len(found), 1, 0.25 + 0.27 * len(methods), sharex=True)
    figure.set_size_inches(min(style.WIDTH, 1.6 + 0.9 * len(faults)), figure.get_size_inches()[1])
    for panel, (task, cells) in zip(axes[:, 0], found.items(), strict=True):
        grid = np.array([[_value(cells[method, fault]) for fault in faults] for method in methods])
        edges = np.arange(len(faults) + 1) - 0.5, np.arange(len(methods) + 1) - 0.5
        panel.pcolormesh(*edges, grid, cmap=style.HEAT, vmin=0, vmax=1, edgecolors="white", linewidth=1)
        for (row, column), value in np.ndenumerate(grid):
            _label(panel, row, column, cells[methods[row], faults[column]], value)
        panel.set_xticks(range(len(faults)), faults)
        panel.set_yticks(range(len(methods)), methods)
        panel.invert_yaxis()
        panel.tick_params(length=0)
        panel.spines[:].set_visible(False)
        panel.set_title(style.spaced(task))
    return figure


def _value(share: Estimate | None) -> float:
    return np.nan if share is None else share.value


def _label(panel: Axes, row: int, column: int, share: Estimate | None, value: float) -> None:
    colour = style.INK if share is None else style.readable_on(mpl.colormaps[style.HEAT](np.clip(value, 0, 1)))
    text = NOTHING if share is None else f"{figure_text(value)}\n"
    panel.text(column, row, text, ha="center", va="center", color=colour, linespacing=0.9)
    if share is not None and np.isfinite(share.low):
        interval = f"\n{figure_text(share.low)} to {figure_text(share.high)}"
        panel.text(column, row, interval, ha="center", va="center", color=colour, fontsize=5, linespacing=1.4)


def table(sweep: Sweep, task: str) -> Table:
    """The same numbers."""
    cells, columns = shares(sweep, task), (CLEAN, *sweep.disturbances)
    rows = tuple((method, *(estimate_text(cells[method, name], 2) for name in columns)) for method in sweep.contenders)
    title = f"{style.spaced(task)}: share of the clean score of {sweep.contenders[0]}"
    return Table(title, ("method", *columns), rows)


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """The heat maps and their numbers."""
    found = {task: shares(sweep, task) for task in sweep.tasks}
    found = {task: cells for task, cells in found.items() if any(cells.values())}
    if not found:
        return
    settings = [_setting(sweep, task, method, fault) for task, cells in found.items() for method, fault in cells]
    points = [sweep.points[setting] for setting in settings if setting in sweep.points]
    first, worst = sweep.contenders[0], max(settings, key=lambda setting: setting.failures)
    yield Exhibit(
        "resilience",
        TITLE,
        f"Share of the clean performance of {first} that a method has on clean sensors and with {harm(worst)}, "
        f"intensity {worst.intensity:g}: (score − random policy) / (clean score of {first} − random policy). "
        f"{how_measured(points, POOLED)}{missing_from(sweep, settings)}",
        draw(found),
        f"Heat maps of the share of the clean score left: {', '.join(sweep.contenders)} "
        f"under {', '.join(sweep.disturbances)}.",
        tuple(table(sweep, task) for task in found),
    )


KIND = Kind(
    TITLE,
    "It needs, for one method at least, its clean cell and a cell in which something breaks; and the score of a random "
    "policy, which the domain of the environment tells (`Task.random`).",
    exhibits,
)
