"""Whether training with sensor dropout costs anything: learning curves, or the clean scores of finished agents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wiser.envs.domain import known_tasks, references
from wiser.evaluate.statistics import Estimate
from wiser.report import style
from wiser.report.exhibit import Exhibit, Kind, Table, dashed, estimate_text, how_measured, missing_from
from wiser.report.failures import mean_score
from wiser.report.results import ReportError, Sweep, clean_setting

TITLE = "Training with and without sensor dropout"
DROPOUT = "dropout"
LOG, CONFIG = "log.jsonl", "config.yaml"


@dataclass(frozen=True)
class Run:
    """The evaluations of one training run."""

    name: str
    task: str
    variant: str
    updates: tuple[int, ...]
    scores: tuple[Estimate, ...]
    """Mean over held-out episodes, with its 95 % interval by the normal approximation."""
    episodes: int


def read_runs(folder: Path) -> list[Run]:
    """All runs in `folder`, or the one it is, that have been evaluated at least once."""
    logs = sorted(folder.rglob(LOG))
    if not logs:
        raise ReportError(f"no {LOG} in or below {folder}: name a folder of training runs, such as runs")
    runs = [_read_run(path.parent) for path in logs if (path.parent / CONFIG).is_file()]
    return [run for run in runs if run.updates]


def _read_run(folder: Path) -> Run:
    config = yaml.safe_load((folder / CONFIG).read_text())
    episodes, updates, scores = int(config["evaluate_episodes"]), [], []
    for entry in filter(None, map(_entry, (folder / LOG).read_text().splitlines())):
        if "score" in entry:
            half = 1.96 * entry["score_std"] / np.sqrt(episodes)
            updates.append(int(entry["update"]))
            scores.append(Estimate(entry["score"], entry["score"] - half, entry["score"] + half))
    task = next((task.name for task in known_tasks() if task.env == config["env"]), config["env"])
    alone = len(config["sensors"]) == 1
    return Run(folder.name, task, "single" if alone else config["variant"], tuple(updates), tuple(scores), episodes)


def _entry(line: str) -> dict[str, float]:
    try:
        entry: dict[str, float] = json.loads(line)
    except ValueError:  # a line cut short by a kill
        return {}
    return entry


def draw_runs(runs: list[Run]) -> Figure:
    """One panel per task, coloured by variant."""
    tasks = list(dict.fromkeys(run.task for run in runs))
    figure, axes = style.panels(1, len(tasks), 2.1)
    named: dict[str, Artist] = {}
    looks = style.looks_of_methods(dict.fromkeys(run.variant for run in runs))
    for panel, task in zip(axes[0], tasks, strict=True):
        for variant in dict.fromkeys(run.variant for run in runs if run.task == task):
            alike = [run for run in runs if (run.task, run.variant) == (task, variant)]
            named.setdefault(variant, _plot_alike(panel, alike, looks[variant]))
        _reference_lines(panel, task)
        panel.set_title(style.spaced(task))
        panel.set_xlabel("updates")
    axes[0, 0].set_ylabel("score on clean sensors")
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=len(named))
    return figure


def _plot_alike(panel: Axes, runs: list[Run], look: dict[str, Any]) -> Artist:
    """One run with its interval; or several as thin lines, and their mean where all have been evaluated."""
    if len(runs) == 1:
        (run,) = runs
        (line,) = panel.plot(run.updates, [score.value for score in run.scores], **look)
        low, high = [score.low for score in run.scores], [score.high for score in run.scores]
        panel.fill_between(run.updates, low, high, color=look["color"], alpha=0.12, linewidth=0)
        return line
    curves = [{at: score.value for at, score in zip(run.updates, run.scores, strict=True)} for run in runs]
    for curve in curves:
        panel.plot(list(curve), list(curve.values()), color=look["color"], linewidth=0.7, alpha=0.55)
    common = [at for at in curves[0] if all(at in curve for curve in curves)]
    (line,) = panel.plot(common, [float(np.mean([curve[at] for curve in curves])) for at in common], **look)
    return line


def learning_curves(runs: list[Run]) -> Exhibit:
    """The figure of some runs and how they ended."""
    rows = tuple(
        (style.spaced(run.task), run.variant, run.name, f"{run.updates[-1]:,}", estimate_text(run.scores[-1]))
        for run in runs
    )
    episodes = " or ".join(str(number) for number in sorted({run.episodes for run in runs}))
    return Exhibit(
        "training",
        TITLE,
        f"Score on clean sensors during training, evaluated on {episodes} held-out episodes at a time. Several runs of "
        "a variant (seeds) are thin lines and their mean a thick one; a single run has a band, mean ± 1.96 standard "
        f"errors. {dashed(run.task for run in runs)}",
        draw_runs(runs),
        f"Learning curves of {len(runs)} training runs.",
        (Table(f"{TITLE}: last evaluation", ("task", "variant", "run", "updates", "score"), rows),),
    )


def clean_scores(sweep: Sweep) -> dict[str, dict[str, Estimate]]:
    """By task, then by variant: the mean score when nothing breaks and every sensor is trusted."""
    found = {
        task: {name: mean_score(point) for name in _variants(sweep) if (point := sweep.clean(task, name)) is not None}
        for task in sweep.tasks
    }
    return {task: scores for task, scores in found.items() if scores}


def _variants(sweep: Sweep) -> list[str]:
    """Contenders that are an agent and nothing else."""
    return [name for name in sweep.contenders if sweep.treatments[name] == "none"]


def draw_scores(found: dict[str, dict[str, Estimate]]) -> Figure:
    """One panel per task, one point with its interval per variant."""
    figure, axes = style.panels(1, len(found), 1.7)
    looks = style.looks_of_methods(dict.fromkeys(name for scores in found.values() for name in scores))
    for panel, (task, scores) in zip(axes[0], found.items(), strict=True):
        for place, (variant, score) in enumerate(scores.items()):
            reach = [[score.value - score.low], [score.high - score.value]]
            panel.errorbar(place, score.value, reach, capsize=2, markersize=4, **looks[variant])
        panel.set_xticks(range(len(scores)), list(scores))
        panel.set_xlim(-0.6, len(scores) - 0.4)
        _reference_lines(panel, task)
        panel.set_title(style.spaced(task))
    axes[0, 0].set_ylabel("score on clean sensors")
    return figure


def _reference_lines(panel: Axes, task: str) -> None:
    for height, name in zip(references(task) or (), ("random", "expert"), strict=False):
        style.reference(panel, height, name)


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """Clean scores per variant."""
    found = clean_scores(sweep)
    variants = [variant for variant in _variants(sweep) if any(variant in scores for scores in found.values())]
    if DROPOUT not in variants or len(variants) < 2:
        return
    expected = [clean_setting(task, variant) for task in sweep.tasks for variant in variants]
    points = [sweep.points[setting] for setting in expected if setting in sweep.points]
    rows = tuple(
        (style.spaced(task), *(estimate_text(scores.get(v)) for v in variants)) for task, scores in found.items()
    )
    yield Exhibit(
        "training",
        TITLE,
        f"Score of finished agents on clean sensors, all of them trusted. {dashed(sweep.tasks)}"
        + how_measured(points)
        + missing_from(sweep, expected),
        draw_scores(found),
        f"Clean scores of the agents {', '.join(variants)}, one panel per task.",
        (Table(f"{TITLE}: clean score", ("task", *variants), rows),),
    )


KIND = Kind(
    TITLE,
    f"It needs logs of training runs (`--runs`), or the clean cells of `{DROPOUT}` and another agent in one sweep.",
    exhibits,
)
