"""What each method costs in time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from wiser.evaluate.statistics import Estimate
from wiser.report import style
from wiser.report.exhibit import Exhibit, Kind, Table, figure_text
from wiser.report.results import Sweep

TITLE = "Time per step"


def milliseconds(sweep: Sweep) -> dict[str, Estimate]:
    """Per method: median over its settings of wall time per environment step, and their quartiles."""
    found = {}
    for method in sweep.contenders:
        points = [point for setting, point in sweep.points.items() if setting.contender == method]
        times = [1000 * point.seconds / point.steps for point in points if point.steps]
        if times:
            low, middle, high = np.quantile(times, (0.25, 0.5, 0.75))
            found[method] = Estimate(float(middle), float(low), float(high))
    return found


def draw(found: dict[str, Estimate]) -> Figure:
    """One row per method."""
    figure, axes = style.panels(1, 1, 0.3 + 0.22 * len(found))
    for place, (method, time) in enumerate(found.items()):
        reach = [[time.value - time.low], [time.high - time.value]]
        axes[0, 0].errorbar(time.value, place, xerr=reach, markersize=4, capsize=2, **style.look(method))
    axes[0, 0].set_yticks(range(len(found)), list(found))
    axes[0, 0].set_ylim(len(found) - 0.4, -0.6)
    axes[0, 0].set_xlim(left=0)
    axes[0, 0].set_xlabel("milliseconds per step")
    return figure


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """The figure and its numbers."""
    if not (found := milliseconds(sweep)):
        return
    fastest = min(time.value for time in found.values())
    rows = tuple(
        (method, *(figure_text(number) for number in (time.value, time.low, time.high, time.value / fastest)))
        for method, time in found.items()
    )
    header = ("method", "median", "lower quartile", "upper quartile", "times the fastest")
    yield Exhibit(
        "latency",
        TITLE,
        "Wall time of a cell divided by its steps, environment and faults included, all episodes of a cell side by "
        f"side as one batch; median and quartiles over the {len(sweep.points)} settings. Taken while the sweep ran, "
        "with whatever else the machine did: `benchmarks/guard_overhead.py` measures the guard alone.",
        draw(found),
        f"Milliseconds per step for {', '.join(found)}.",
        (Table(f"{TITLE} (milliseconds)", header, rows),),
    )


KIND = Kind(TITLE, "It needs timed cells.", exhibits)
