"""What is left of each method's clean performance when most sensors are broken."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wiser.evaluate import statistics
from wiser.evaluate.statistics import Estimate
from wiser.evaluate.tasks import normalise, reference_scores
from wiser.report import style
from wiser.report.exhibit import (
    NOTHING,
    Exhibit,
    Kind,
    Table,
    estimate_text,
    figure_text,
    harm,
    how_measured,
    missing_from,
)
from wiser.report.failures import mean_score
from wiser.report.results import Point, Setting, Sweep, clean_setting

TITLE = "Resilience"
Shares = dict[tuple[str, str], Estimate | None]
"""By method and fault; None where it cannot be told."""


def shares(sweep: Sweep, task: str) -> Shares:
    """What is left of the clean score, per method and fault, at most failures and greatest harm."""
    return {
        (method, fault): resilience(task, sweep.points.get(setting), sweep.clean(task, method))
        for method in sweep.methods
        for fault in sweep.faults
        for setting in [_setting(sweep, task, method, fault)]
    }


def resilience(task: str, faulty: Point | None, clean: Point | None) -> Estimate | None:
    """(faulty - random) / (clean - random); None without both, or if the clean score is no better than random."""
    if faulty is None or clean is None:
        return None
    seeds = [seed for seed in faulty.scores if seed in clean.scores]
    ours, whole = ([list(point.scores[seed].values()) for seed in seeds] for point in (faulty, clean))
    low, _ = reference_scores(task) or (0.0, 0.0)
    if not seeds or any(np.mean(scores) <= low for scores in whole):
        return None
    return statistics.normalised(ours, [[low]] * len(seeds), whole, np.random.default_rng(0))


def _setting(sweep: Sweep, task: str, method: str, fault: str) -> Setting:
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
    """The same numbers, after the clean score on the scale from a random policy (0) to the expert (1)."""
    cells = shares(sweep, task)
    rows = []
    for method in sweep.methods:
        clean = sweep.clean(task, method)
        whole = normalise(task, mean_score(clean).value) if clean and reference_scores(task) else None
        rows.append((method, figure_text(whole), *(estimate_text(cells[method, fault], 2) for fault in sweep.faults)))
    header = ("method", "clean, of expert", *sweep.faults)
    return Table(f"{style.spaced(task)}: share of the clean score left", header, tuple(rows))


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """The heat maps and their numbers."""
    found = {task: shares(sweep, task) for task in sweep.tasks}
    found = {task: cells for task, cells in found.items() if any(cells.values())}
    if not found:
        return
    settings = [_setting(sweep, task, method, fault) for task, cells in found.items() for method, fault in cells]
    clean = [clean_setting(task, method) for task in found for method in sweep.methods]
    points = [sweep.points[setting] for setting in settings if setting in sweep.points]
    yield Exhibit(
        "resilience",
        TITLE,
        f"Share of its own clean performance that a method keeps with {harm(settings[0])}, intensity "
        f"{settings[0].intensity:g}: (score − random policy) / (clean score − random policy). "
        f"{how_measured(points)}{missing_from(sweep, [*clean, *settings])}",
        draw(found),
        f"Heat maps of the share of the clean score left: {', '.join(sweep.methods)} under {', '.join(sweep.faults)}.",
        tuple(table(sweep, task) for task in found),
    )


KIND = Kind(TITLE, "It needs, for one method at least, its clean cell and a cell in which something breaks.", exhibits)
