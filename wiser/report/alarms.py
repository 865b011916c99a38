"""How well each guard tells broken sensors from healthy ones."""

from __future__ import annotations

from collections.abc import Iterator

from wiser.evaluate import Detection
from wiser.report import style
from wiser.report.exhibit import NOTHING, Exhibit, Kind, Table, figure_text
from wiser.report.results import Sweep

TITLE = "Detection"
COLUMNS = {
    "surprise_auroc": ("AUROC, surprise", 3),
    "score_auroc": ("AUROC, sensor score", 3),
    "false_alarms_per_1000": ("false alarms / 1000", 1),
    "exact_share": ("exact", 2),
    "recall": ("recall", 2),
    "precision": ("precision", 2),
    "median_delay": ("median delay", 0),
}
"""Figure of a `Detection`: its heading and decimals."""
OF_SURPRISE = {"surprise_auroc", "score_auroc"}
"""Figures that say something about methods that distrust nothing, too."""
EXPLAINED = (
    "Steps of all numbers of failures, intensities and proportions pooled, with the clean episodes of the method. "
    "AUROC of surprise: faulty against clean steps; of the sensor score: broken against healthy sensors. "
    "False alarms: clean steps at which any sensor is distrusted. Exact, recall and precision: over faulty steps, "
    "distrusted against broken sensors. Median delay: steps until half of the broken sensors are caught "
    "(Kaplan-Meier). A dash: nothing to take it from."
)


def detections(sweep: Sweep, task: str) -> dict[tuple[str, str], Detection]:
    """By method and fault: everything measured under the fault, pooled with the method's clean episodes."""
    found = {}
    for method in sweep.contenders:
        for fault in sweep.disturbances:
            settings = [s for s in sweep.faulty if (s.task, s.contender, s.disturbance) == (task, method, fault)]
            points = [sweep.points[setting] for setting in settings]
            measured = [point.detection for point in (*points, sweep.clean(task, method)) if point and point.detection]
            if any(detection.faulty_steps for detection in measured):
                found[method, fault] = Detection.pool(measured)
    return found


def distrusts(treatment: str) -> bool:
    """Whether a treatment can distrust a sensor at all."""
    return treatment not in ("none", "median")


def table(sweep: Sweep, task: str, found: dict[tuple[str, str], Detection]) -> Table:
    """One row per method and fault."""
    rows = []
    for (method, fault), detection in found.items():
        figures, shown = detection.figures(), COLUMNS if distrusts(sweep.treatments[method]) else OF_SURPRISE
        cells = [
            figure_text(figures[name], digits) if name in shown else NOTHING for name, (_, digits) in COLUMNS.items()
        ]
        rows.append((method, fault, *cells))
    return Table(style.spaced(task), ("method", "fault", *(heading for heading, _ in COLUMNS.values())), tuple(rows))


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """One table per task."""
    found = {task: detections(sweep, task) for task in sweep.tasks}
    tables = tuple(table(sweep, task, cells) for task, cells in found.items() if cells)
    if not tables:
        return
    unclean = [f"{s.task} {s.contender}" for s in sweep.faulty if sweep.clean(s.task, s.contender) is None]
    lacking = f" No clean cell: {', '.join(dict.fromkeys(unclean))}." if unclean else ""
    episodes = sum(point.episodes for point in sweep.points.values())
    yield Exhibit(
        "detection",
        TITLE,
        f"{EXPLAINED} Counts over {episodes:,} episodes, without intervals.{lacking}",
        tables=tables,
    )


KIND = Kind(TITLE, "It needs cells in which something breaks and episodes with detection counts.", exhibits)
