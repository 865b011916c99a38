"""Scores over intensity and proportion: a surface for every fault and method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import Normalize, to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from wiser.evaluate import statistics
from wiser.evaluate.statistics import Estimate
from wiser.evaluate.surface import WorstCell, surface_weights, worst_cell
from wiser.report import style
from wiser.report.exhibit import (
    POOLED,
    Exhibit,
    Kind,
    Table,
    estimate_text,
    figure_text,
    how_measured,
    missing_from,
    sensors,
)
from wiser.report.failures import mean_score
from wiser.report.results import Point, Setting, Sweep, pairs

TITLE = "Score over intensity and proportion"
SHADES = 9
"""Colours the page interpolates between."""


@dataclass(frozen=True)
class Surface:
    """Mean scores of one method under one fault."""

    task: str
    contender: str
    disturbance: str
    intensities: tuple[float, ...]
    proportions: tuple[float, ...]
    heights: NDArray[np.float64]
    """(I, P), NaN where the ledger has no cell."""
    area: Estimate | None
    """Mean height over the whole domain; None unless all cells are there, and so are the next."""
    gain: Estimate | None
    """Mean height less that of the sweep's first method, in the episodes of both; None for that method itself."""
    worst: WorstCell | None


def surfaces(sweep: Sweep) -> list[Surface]:
    """One per task, fault and method; none unless the sweep has two intensities and two proportions."""
    intensities, proportions = _axis(sweep, "intensity"), _axis(sweep, "proportion")
    if min(len(intensities), len(proportions)) < 2:
        return []
    return [
        _surface(sweep, task, method, fault, intensities, proportions)
        for task in sweep.tasks
        for fault in sweep.disturbances
        for method in sweep.contenders
    ]


def _axis(sweep: Sweep, name: str) -> tuple[float, ...]:
    return tuple(sorted({getattr(setting, name) for setting in sweep.faulty}))


def _surface(
    sweep: Sweep, task: str, method: str, fault: str, intensities: tuple[float, ...], proportions: tuple[float, ...]
) -> Surface:
    settings = _grid(sweep, task, method, fault, intensities, proportions)
    points = [sweep.points.get(setting) for setting in settings]
    heights = np.array([np.nan if point is None else mean_score(point).value for point in points])
    heights = heights.reshape(len(intensities), len(proportions))
    area = gain = worst = None
    whole = [point for point in points if point is not None]
    if len(whole) == len(points):
        shares = surface_weights(intensities, proportions).ravel()
        area, worst = _area(whole, shares), worst_cell(heights, intensities, proportions)
        if method != sweep.contenders[0]:
            gain = _gain(whole, [sweep.points.get(s._replace(contender=sweep.contenders[0])) for s in settings], shares)
    return Surface(task, method, fault, intensities, proportions, heights, area, gain, worst)


def _area(points: list[Point], shares: NDArray[np.float64]) -> Estimate:
    return statistics.mean(
        [scores for point in points for scores in point.strata],
        np.random.default_rng(0),
        _among_seeds(shares, [len(point.scores) for point in points]),
        [episodes for point in points for episodes in point.clusters_of("score")],
        [run for point in points for run in point.runs_of("score")],
    )


def _gain(points: list[Point], first: list[Point | None], shares: NDArray[np.float64]) -> Estimate | None:
    found = [pairs(ours, theirs) for ours, theirs in zip(points, first, strict=True) if theirs]
    both = [pair for pair in found if pair]
    if len(both) < len(points):
        return None
    return statistics.paired_difference(
        [scores for pair in both for scores in pair.ours],
        [scores for pair in both for scores in pair.theirs],
        np.random.default_rng(0),
        _among_seeds(shares, [len(pair.episodes) for pair in both]),
        [episodes for pair in both for episodes in pair.episodes],
        [run for pair in both for run in pair.runs],
    )


def _among_seeds(shares: NDArray[np.float64], seeds: list[int]) -> NDArray[np.float64]:
    """The share of each cell, split among its seeds."""
    return np.repeat(shares / seeds, seeds)


def _grid(
    sweep: Sweep, task: str, method: str, fault: str, intensities: tuple[float, ...], proportions: tuple[float, ...]
) -> list[Setting]:
    failures = max(setting.failures for setting in sweep.faulty)
    return [Setting(task, method, fault, i, p, failures) for i in intensities for p in proportions]


def draw(found: list[Surface]) -> Figure:
    """The surfaces of one task: faults as rows, methods as columns, one height and colour scale."""
    faults = list(dict.fromkeys(surface.disturbance for surface in found))
    methods = list(dict.fromkeys(surface.contender for surface in found))
    size = (style.WIDTH * min(1, (len(methods) + 1) / 4), 1.5 * len(faults) + 0.3)
    figure = Figure(figsize=size)
    low, high = height_range(found)
    norm, colours = Normalize(low, high), mpl.colormaps[style.HEAT]
    for surface in found:
        row, column = faults.index(surface.disturbance), methods.index(surface.contender)
        axes: Any = figure.add_subplot(len(faults), len(methods), 1 + row * len(methods) + column, projection="3d")
        x, y = np.meshgrid(surface.intensities, surface.proportions, indexing="ij")
        axes.plot_surface(
            x, y, surface.heights, facecolors=colours(norm(patch_heights(surface.heights))), shade=False,
            edgecolor=style.INK, linewidth=0.3, rstride=1, cstride=1,
        )  # fmt: skip
        _furnish(axes, surface, height_ticks(low, high), named=surface is found[-1], scaled=column == 0)
        axes.set_zlim(low, high)
        if row == 0:
            axes.set_title(surface.contender, y=1.0)
        if column == 0:
            beside = {"transform": axes.transAxes, "rotation": 90, "va": "center", "fontsize": 7.5}
            axes.text2D(-0.34, 0.5, surface.disturbance, **beside)
    figure.subplots_adjust(left=0.1, right=0.96, bottom=0.05, top=0.95, wspace=0.02, hspace=0.0)
    return figure


def _furnish(axes: Any, surface: Surface, heights: list[float], named: bool, scaled: bool) -> None:
    """Ticks and thin walls of a three-dimensional panel; only one names its ground, one per row scales its height."""
    axes.view_init(elev=24, azim=40)
    axes.set_box_aspect((1, 1, 0.72), zoom=1.15)
    sides = (
        (axes.xaxis, surface.intensities, "left", "intensity"),
        (axes.yaxis, surface.proportions, "right", "proportion"),
    )
    for axis, ticks, side, name in sides:
        ends = ticks[0], ticks[-1]
        axis.set_ticks(ends, [f"{end:g}" if named else "" for end in ends], ha=side)
        axis.set_label_text(name if named else "")
        axis.labelpad = -12
    axes.zaxis.set_ticks(heights, [f"{height:g}" if scaled else "" for height in heights])
    axes.tick_params(labelsize=5.5, pad=-4)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((1, 1, 1, 0))
        axis.label.set_fontsize(6)
        axis._axinfo["grid"].update(color=style.INK + "22", linewidth=0.4)


def patch_heights(heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean height of the patch that begins at each point; the last row and column begin none and repeat the others."""
    means = (heights[:-1, :-1] + heights[1:, :-1] + heights[:-1, 1:] + heights[1:, 1:]) / 4
    return np.pad(means, ((0, 1), (0, 1)), mode="edge")


def height_range(found: list[Surface]) -> tuple[float, float]:
    """Lowest and highest point of some surfaces, widened to one step if they are flat."""
    heights = np.concatenate([surface.heights.ravel() for surface in found])
    low, high = float(np.nanmin(heights)), float(np.nanmax(heights))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def height_ticks(low: float, high: float) -> list[float]:
    """A few round numbers between two heights."""
    return [float(tick) for tick in MaxNLocator(3).tick_values(low, high) if low <= tick <= high]


def for_the_page(found: list[Surface]) -> dict[str, Any]:
    """The surfaces of one task as plain values; None where a cell is missing."""
    low, high = height_range(found)
    return {
        "low": low,
        "high": high,
        "ticks": height_ticks(low, high),
        "shades": [to_hex(colour) for colour in mpl.colormaps[style.HEAT](np.linspace(0, 1, SHADES))],
        "surfaces": [
            {
                "title": f"{surface.disturbance}, {surface.contender}",
                "x": surface.intensities,
                "y": surface.proportions,
                "z": [[None if np.isnan(z) else round(float(z), 2) for z in row] for row in surface.heights],
            }
            for surface in found
        ],
        "columns": len({surface.contender for surface in found}),
    }


def summary(found: list[Surface], first: str) -> Table:
    """Area of each surface, what it has over that of the first method, and worst cell."""
    rows = tuple(
        (
            s.disturbance, s.contender, estimate_text(s.area), estimate_text(s.gain, 1),
            figure_text(s.worst and s.worst.value, 0), figure_text(s.worst and s.worst.intensity, 3),
            figure_text(s.worst and s.worst.proportion, 3),
        )
        for s in found
    )  # fmt: skip
    header = ("fault", "method", "mean height", f"minus {first}", "worst cell", "at intensity", "at proportion")
    return Table(f"{style.spaced(found[0].task)}: mean height and worst cell of each surface", header, rows)


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """One figure with its table per task."""
    everything = surfaces(sweep)
    for task in sweep.tasks:
        found = [s for s in everything if s.task == task and not np.isnan(s.heights).all()]
        if not found:
            continue
        grids = [_grid(sweep, task, s.contender, s.disturbance, s.intensities, s.proportions) for s in found]
        expected = [setting for grid in grids for setting in grid]
        points = [sweep.points[setting] for setting in expected if setting in sweep.points]
        yield Exhibit(
            f"surfaces-{style.slug(style.spaced(task))}",
            f"{TITLE}: {style.spaced(task)}",
            f"Mean score with {sensors(expected[0].failures)} broken, over the intensity of the fault and the share of "
            "steps it affects; one scale for all. Mean height: the volume under a surface by the trapezoid rule, over "
            f"the area it stands on; minus {sweep.contenders[0]}: the difference in the same episodes. "
            + how_measured(points, f"in the table, {POOLED}")
            + missing_from(sweep, expected),
            draw(found),
            f"Three-dimensional surfaces of the score for {', '.join(dict.fromkeys(s.disturbance for s in found))}, "
            f"one column for each of {', '.join(dict.fromkeys(s.contender for s in found))}.",
            (summary(found, sweep.contenders[0]),),
            for_the_page(found),
        )


KIND = Kind(
    TITLE,
    "It needs cells with several intensities and several proportions, such as `intensities: [0.5, 1.0]` and "
    "`proportions: [0.5, 1.0]` in a plan.",
    exhibits,
)
