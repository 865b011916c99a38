"""How surprise grows with noise, in an agent that trusts every sensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from wiser.evaluate import statistics
from wiser.evaluate.statistics import Estimate
from wiser.report import style
from wiser.report.exhibit import Exhibit, Kind, Table, estimate_text, harm, how_measured, missing_from
from wiser.report.results import Point, Setting, Sweep, clean_setting

TITLE = "Surprise against noise intensity"


@dataclass(frozen=True)
class Rise:
    """Surprise of one unguarded agent, in standard deviations of its surprise on clean steps."""

    task: str
    contender: str
    curves: dict[str, dict[float, Estimate]]
    """By fault, then by intensity; intensity 0 is clean, and its mean is 0 by construction."""


def rises(sweep: Sweep) -> list[Rise]:
    """One per task and contender that trusts everything; none if the sweep has fewer than two intensities."""
    if len({setting.intensity for setting in sweep.faulty}) < 2:
        return []
    unguarded = [name for name in sweep.contenders if sweep.treatments[name] == "none"]
    found = [_rise(sweep, task, contender) for task in sweep.tasks for contender in unguarded]
    return [rise for rise in found if rise is not None]


def _rise(sweep: Sweep, task: str, method: str) -> Rise | None:
    clean = sweep.clean(task, method)
    moments = clean.detection.surprise_clean.moments if clean and clean.detection else None
    if clean is None or moments is None or moments[1] == 0:
        return None
    zero, unit = float(np.mean([np.mean(surprise) for surprise in clean.surprise.values()])), moments[1]

    def scored(point: Point) -> Estimate:
        found = {driven: group for driven, group in point.surprise.items() if group}
        scaled = [(np.array(group) - zero) / unit for group in found.values()]
        return statistics.mean(scaled, np.random.default_rng(0), runs=[("agent", driven.run) for driven in found])

    curves: dict[str, dict[float, Estimate]] = {}
    for setting in _settings(sweep, task, method):
        point = sweep.points.get(setting)
        if point is not None and any(point.surprise.values()):
            curve = curves.setdefault(setting.disturbance, {0.0: scored(clean)})
            curve[setting.intensity] = scored(point)
    return Rise(task, method, curves) if curves else None


def _settings(sweep: Sweep, task: str, method: str) -> Iterator[Setting]:
    """As many failures and as large a share of the steps as there are, every fault and intensity."""
    failures, proportion = max(s.failures for s in sweep.faulty), sweep.harshest[1]
    for fault in sweep.disturbances:
        for intensity in sorted({setting.intensity for setting in sweep.faulty}):
            yield Setting(task, method, fault, intensity, proportion, failures)


def draw(found: list[Rise], faults: list[str]) -> Figure:
    """One panel per agent, one line per fault, the same heights in all."""
    columns = min(3, len(found))
    figure, axes = style.panels(-(-len(found) // columns), columns, 2.1, sharey=True)
    looks = style.looks(faults)
    for panel, rise in zip(axes.flat, found, strict=False):
        for fault, curve in rise.curves.items():
            x, values = list(curve), list(curve.values())
            panel.plot(x, [value.value for value in values], label=fault, **looks[fault])
            low, high = [value.low for value in values], [value.high for value in values]
            panel.fill_between(x, low, high, color=looks[fault]["color"], alpha=0.12, linewidth=0)
        panel.axhline(0, color=style.INK, linewidth=0.5, alpha=0.5)
        panel.set_title(f"{style.spaced(rise.task)}, {rise.contender}")
        panel.set_xlabel("intensity")
        panel.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    for panel in axes.flat[len(found) :]:
        panel.set_axis_off()
    for panel in axes[:, 0]:
        panel.set_ylabel("surprise (z)")
    style.legend(figure, axes.flat[0], len(faults))
    return figure


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """The figure and its numbers."""
    if not (found := rises(sweep)):
        return
    expected = [setting for rise in found for setting in _settings(sweep, rise.task, rise.contender)]
    points = [sweep.points[setting] for setting in expected if setting in sweep.points]
    intensities = sorted({intensity for rise in found for curve in rise.curves.values() for intensity in curve})
    rows = tuple(
        (rise.task, rise.contender, fault, *(estimate_text(curve.get(intensity), 1) for intensity in intensities))
        for rise in found
        for fault, curve in rise.curves.items()
    )
    yield Exhibit(
        "surprise",
        TITLE,
        f"Mean surprise of faulty steps, {harm(expected[0])}, nothing masked; z: distance from the mean of clean "
        f"episodes in standard deviations of clean steps. {how_measured(points)}"
        + missing_from(sweep, [*(clean_setting(rise.task, rise.contender) for rise in found), *expected]),
        draw(found, sweep.disturbances),
        f"Lines of surprise over intensity for the faults {', '.join(sweep.disturbances)}.",
        (Table(f"{TITLE} (z)", ("task", "method", "fault", *(f"{i:g}" for i in intensities)), rows),),
    )


KIND = Kind(
    TITLE,
    "It needs an agent that trusts every sensor, clean and at several intensities, such as "
    "`intensities: [0.5, 1.0]` in a plan.",
    exhibits,
)
