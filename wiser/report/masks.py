"""Which sensors each method masks under which disturbance, beside those that it really affects."""

from __future__ import annotations

from collections.abc import Iterator

from wiser.evaluate import Detection
from wiser.evaluate.detection import Masks
from wiser.report import style
from wiser.report.alarms import distrusts
from wiser.report.exhibit import NOTHING, Exhibit, Kind, Table
from wiser.report.results import Setting, Sweep

TITLE = "Which sensors are masked"
CLEAN, TRUTH = "none", "affected"
EXPLAINED = (
    "Rows called affected tell the truth: the share of the steps at which the sensor is broken, or shows something "
    "else than it honestly would. It depends on what is done, so it is that of the first method below. Other rows: the "
    "share of these steps at which the method masks the sensor / the share of all other steps at which it does; a "
    "single number where the sensor is never affected. All numbers of failures, intensities and proportions pooled. "
    "Methods that mask nothing are left out."
)


def pooled(sweep: Sweep, task: str, method: str, disturbance: str) -> dict[str, Masks]:
    """By sensor, over all settings of a method under a disturbance, or clean; empty if nothing was counted."""

    def belongs(setting: Setting) -> bool:
        return (setting.task, setting.contender, setting.disturbance) == (task, method, disturbance)

    found = [point.detection for setting, point in sweep.points.items() if belongs(setting)]
    counted = [detection for detection in found if detection is not None]
    return Detection.pool(counted).masks() if counted else {}


def text(masks: Masks | None) -> str:
    """While affected / otherwise, in percent."""
    if masks is None:
        return NOTHING
    shares = [masks.otherwise] if not masks.broken else [masks.then, masks.otherwise]
    return " / ".join(_percent(share) for share in shares)


def table(sweep: Sweep, task: str) -> Table | None:
    """The truth and every method that can mask, clean and under each disturbance."""
    guards = [name for name in sweep.contenders if distrusts(sweep.treatments[name])]
    rows: list[tuple[str, str, dict[str, str]]] = []
    for disturbance in (CLEAN, *sweep.disturbances):
        found = {name: masks for name in guards if (masks := pooled(sweep, task, name, disturbance))}
        if found and disturbance != CLEAN:
            truth = next(iter(found.values()))
            rows.append((disturbance, TRUTH, {sensor: _percent(masks.broken) for sensor, masks in truth.items()}))
        for method, by_sensor in found.items():
            rows.append((disturbance, method, {sensor: text(masks) for sensor, masks in by_sensor.items()}))
    sensors = list(dict.fromkeys(sensor for *_, cells in rows for sensor in cells))
    lines = tuple((what, method, *(cells.get(name, NOTHING) for name in sensors)) for what, method, cells in rows)
    return Table(style.spaced(task), ("disturbance", "method", *sensors), lines) if sensors else None


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """One table per task."""
    tables = tuple(found for task in sweep.tasks if (found := table(sweep, task)) is not None)
    if tables and sweep.faulty:
        yield Exhibit("masks", TITLE, EXPLAINED, tables=tables)


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share:.0%}".replace("%", " %")


KIND = Kind(
    TITLE, "It needs a method that masks sensors, and episodes of this release: older ones have no counts.", exhibits
)
