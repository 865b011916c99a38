"""What a sweep left in its ledger, cell by cell and ready for figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from wiser.envs.domain import known_tasks
from wiser.evaluate import Cell, Detection, Episode, Histogram, Ledger
from wiser.evaluate.ledger import LEDGER
from wiser.evaluate.methods import METHODS
from wiser.evaluate.sweep import CLEAN
from wiser.evaluate.tables import has_tables


class ReportError(ValueError):
    """Results that cannot be reported on; the message says which, and what to do."""


class Setting(NamedTuple):
    """What was done to whom: a cell without its seed, its agent and its budget."""

    task: str
    method: str
    fault: str
    intensity: float
    proportion: float
    failures: int


@dataclass(frozen=True)
class Point:
    """All that was measured in one setting. Seeds are kept apart: they are the strata of the statistics."""

    scores: Mapping[int, Mapping[int, float]]
    """Per seed, by the seed of the environment."""
    surprise: Mapping[int, tuple[float, ...]]
    """Per seed, the mean surprise of each episode: over its faulty steps, or over all of them in a clean setting."""
    detection: Detection | None
    """Of all episodes pooled."""
    steps: int
    """Taken, over all episodes."""
    seconds: float
    budget: int
    """Steps that a cell was allowed."""

    @property
    def strata(self) -> list[list[float]]:
        """Scores per seed."""
        return [list(scores.values()) for scores in self.scores.values()]

    @property
    def clusters(self) -> list[list[tuple[int, int]]]:
        """Seed and seed of the environment of each score in `strata`: the same episode in all settings of a task."""
        return [[(seed, env_seed) for env_seed in scores] for seed, scores in self.scores.items()]

    @property
    def episodes(self) -> int:
        """How many were driven."""
        return sum(map(len, self.strata))


@dataclass(frozen=True)
class Sweep:
    """One ledger. Of each task and method it shows one agent and one budget; `left_out` names the others."""

    name: str
    points: Mapping[Setting, Point]
    agents: tuple[str, ...]
    left_out: tuple[str, ...]
    fingerprint: str

    @cached_property
    def tasks(self) -> list[str]:
        """In the order the library lists them; those it does not know come last."""
        return _ordered({setting.task for setting in self.points}, [task.name for task in known_tasks()])

    @cached_property
    def methods(self) -> list[str]:
        """In the order the library lists them; those it does not know come last."""
        return _ordered({setting.method for setting in self.points}, METHODS)

    @cached_property
    def faulty(self) -> list[Setting]:
        """Settings in which something breaks."""
        return sorted(setting for setting in self.points if setting.failures)

    @cached_property
    def faults(self) -> list[str]:
        """What breaks sensors, by name."""
        return sorted({setting.fault for setting in self.faulty})

    @cached_property
    def harshest(self) -> tuple[float, float]:
        """The largest intensity and the largest proportion."""
        return max(s.intensity for s in self.faulty), max(s.proportion for s in self.faulty)

    def clean(self, task: str, method: str) -> Point | None:
        """The setting in which nothing breaks."""
        return self.points.get(clean_setting(task, method))


class Pairs(NamedTuple):
    """Scores of two points in the episodes that both have, per seed and in the same order."""

    ours: list[list[float]]
    theirs: list[list[float]]
    episodes: list[list[tuple[int, int]]]


def pairs(ours: Point, theirs: Point) -> Pairs | None:
    """What two points have in common; None if that is nothing."""
    per_seed = [
        [episode for episode in stratum if episode[1] in theirs.scores.get(episode[0], {})] for stratum in ours.clusters
    ]
    common = [stratum for stratum in per_seed if stratum]
    mine, other = ([[p.scores[seed][env] for seed, env in stratum] for stratum in common] for p in (ours, theirs))
    return Pairs(mine, other, common) if common else None


def clean_setting(task: str, method: str) -> Setting:
    """The setting of a task and a method in which nothing breaks."""
    return Setting(task, method, CLEAN, 0.0, 0.0, 0)


def read_sweep(folder: Path) -> Sweep:
    """Read the ledger in `folder`, or the tables exported from one."""
    if not (folder / LEDGER).is_file() and not has_tables(folder):
        raise ReportError(f"no {LEDGER} in {folder}: name the folder of a sweep; `wiser sweep quick` makes one")
    with TemporaryDirectory() as spare:
        return _read(folder, Ledger.of(folder, restored=Path(spare)))


def _read(folder: Path, ledger: Ledger) -> Sweep:
    rows = ledger.cells()
    if not rows:
        raise ReportError(f"{ledger.path} has no finished cell yet: let its sweep go on first")
    seconds = {row["key"]: row["seconds"] for row in rows}
    kept, left_out = one_vintage(_cell(row) for row in rows)
    groups = defaultdict(list)
    for cell in sorted(kept, key=lambda cell: cell.seed):
        setting = Setting(*(getattr(cell, name) for name in Setting._fields))
        groups[setting].append((cell, ledger.episodes(cell.key), seconds[cell.key]))
    return Sweep(
        folder.resolve().name,
        {setting: _point(measured) for setting, measured in groups.items()},
        tuple(sorted({cell.agent for cell in kept})),
        tuple(left_out),
        ledger.fingerprint()[:16],
    )


def one_vintage(cells: Iterable[Cell]) -> tuple[list[Cell], list[str]]:
    """Keep one agent, treatment, budget and onset per task and method, those with most cells; say what is left out.

    A ledger may have met several: an agent was trained again, a sweep was tried with fewer steps. Numbers of one must
    not stand beside numbers of another as if they could be compared.
    """
    groups: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.task, cell.method].append(cell)
    kept, left_out = [], []
    for (task, method), group in sorted(groups.items()):
        votes = Counter(_vintage(cell) for cell in group if cell.failures) or Counter(map(_vintage, group))
        chosen = max(votes, key=lambda vintage: (votes[vintage], vintage.steps, vintage))
        belongs = [
            _vintage(cell)._replace(onset=cell.onset if cell.failures else chosen.onset) == chosen for cell in group
        ]
        kept += [cell for cell, ours in zip(group, belongs, strict=True) if ours]
        if not all(belongs):
            left_out.append(
                f"{belongs.count(False)} cells of {task}, {method}: not agent {chosen.agent}, {chosen.steps:,} steps, "
                f"onset {chosen.onset}{f', treatment {chosen.treatment}' if chosen.treatment else ''}"
            )
    return kept, left_out


class Vintage(NamedTuple):
    """What cells must share to be compared."""

    agent: str
    steps: int
    onset: int
    treatment: str


def _vintage(cell: Cell) -> Vintage:
    return Vintage(cell.agent, cell.steps, cell.onset, cell.treatment)


def _cell(row: Mapping[str, Any]) -> Cell:
    return Cell(**{field.name: row[field.name] for field in fields(Cell)})


def _point(measured: list[tuple[Cell, list[Episode], float]]) -> Point:
    episodes = [episode for _, group, _ in measured for episode in group]
    detections = [episode.detection for episode in episodes if episode.detection is not None]
    return Point(
        scores={cell.seed: {episode.env_seed: episode.score for episode in group} for cell, group, _ in measured},
        surprise={cell.seed: _mean_surprise(group) for cell, group, _ in measured},
        detection=Detection.pool(detections) if detections else None,
        steps=sum(episode.length for episode in episodes),
        seconds=sum(seconds for _, _, seconds in measured),
        budget=measured[0][0].steps,
    )


def _mean_surprise(episodes: list[Episode]) -> tuple[float, ...]:
    """Mean surprise of each episode that has any."""
    histograms: list[Histogram] = [
        episode.detection.surprise_faulty if episode.failed else episode.detection.surprise_clean
        for episode in episodes
        if episode.detection is not None
    ]
    return tuple(moments[0] for histogram in histograms if (moments := histogram.moments) is not None)


def _ordered(names: set[str], known: Iterable[str]) -> list[str]:
    places = list(known)
    return sorted(names, key=lambda name: (places.index(name) if name in places else len(places), name))
