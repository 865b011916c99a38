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
from wiser.evaluate.contenders import CONTENDERS
from wiser.evaluate.ledger import LEDGER
from wiser.evaluate.records import CLEAN
from wiser.evaluate.tables import has_tables


class ReportError(ValueError):
    """Results that cannot be reported on; the message says which, and what to do."""


class Setting(NamedTuple):
    """What was done to whom: a cell without its seed, its agent and its number of episodes."""

    task: str
    contender: str
    disturbance: str
    intensity: float
    proportion: float
    failures: int

    @property
    def clean(self) -> bool:
        """Whether nothing is disturbed."""
        return self.disturbance == CLEAN


@dataclass(frozen=True)
class Point:
    """All that was measured in one setting. Seeds are kept apart: they are the strata of the statistics."""

    values: Mapping[str, Mapping[int, Mapping[int, float]]]
    """By measure, the score among them; then per seed, by the seed of the environment."""
    surprise: Mapping[int, tuple[float, ...]]
    """Per seed, the mean surprise of each episode: over its faulty steps, or over all of them in a clean setting."""
    detection: Detection | None
    """Of all episodes pooled."""
    steps: int
    """Taken, over all episodes."""
    seconds: float

    @property
    def scores(self) -> Mapping[int, Mapping[int, float]]:
        """Per seed, by the seed of the environment."""
        return self.values["score"]

    @property
    def strata(self) -> list[list[float]]:
        """Scores per seed."""
        return self.strata_of("score")

    def strata_of(self, measure: str) -> list[list[float]]:
        """Values of a measure per seed; seeds without any are left out."""
        return [list(values.values()) for values in self.values.get(measure, {}).values() if values]

    @property
    def measured(self) -> list[list[dict[str, float]]]:
        """Per seed, what else each episode is judged by, by name."""
        names = [name for name in self.values if name not in ("score", "length")]
        return [
            [{name: self.values[name][seed][env] for name in names if env in self.values[name][seed]} for env in scores]
            for seed, scores in self.scores.items()
        ]

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
    """One ledger. Of each task and contender it shows one agent and number of episodes; `left_out` names the others."""

    name: str
    points: Mapping[Setting, Point]
    agents: tuple[str, ...]
    left_out: tuple[str, ...]
    treatments: Mapping[str, str]
    """Names of the contenders' treatments."""
    fingerprint: str

    @cached_property
    def tasks(self) -> list[str]:
        """In the order the library lists them; those it does not know come last."""
        return _ordered({setting.task for setting in self.points}, [task.name for task in known_tasks()])

    @cached_property
    def contenders(self) -> list[str]:
        """In the order the library lists them; those it does not know come last, first of all who trusts everything."""
        names = {setting.contender for setting in self.points}
        own = sorted(names - set(CONTENDERS), key=lambda name: (self.treatments[name] != "none", name))
        return [*(name for name in CONTENDERS if name in names), *own]

    @cached_property
    def measures(self) -> list[str]:
        """What episodes are judged by besides the score."""
        return sorted({name for point in self.points.values() for name in point.values} - {"score", "length"})

    @cached_property
    def faulty(self) -> list[Setting]:
        """Settings in which something breaks."""
        return sorted(setting for setting in self.points if not setting.clean)

    @cached_property
    def disturbances(self) -> list[str]:
        """What is wrong in them, by name."""
        return sorted({setting.disturbance for setting in self.faulty})

    @cached_property
    def harshest(self) -> tuple[float, float]:
        """The largest intensity and the largest proportion."""
        return max(s.intensity for s in self.faulty), max(s.proportion for s in self.faulty)

    def clean(self, task: str, contender: str) -> Point | None:
        """The setting in which nothing is wrong."""
        return self.points.get(clean_setting(task, contender))


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


def clean_setting(task: str, contender: str) -> Setting:
    """The setting of a task and a contender in which nothing is wrong."""
    return Setting(task, contender, CLEAN, 0.0, 0.0, 0)


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
        {cell.contender: cell.treatment.partition("@")[0] for cell in kept},
        ledger.fingerprint()[:16],
    )


def one_vintage(cells: Iterable[Cell]) -> tuple[list[Cell], list[str]]:
    """Keep one agent, treatment, number of episodes and onset per task and contender, those with most cells.

    A ledger may have met several: an agent was trained again, a sweep was tried with fewer episodes. Numbers of one
    must not stand beside numbers of another as if they could be compared.
    """
    groups: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.task, cell.contender].append(cell)
    kept, left_out = [], []
    for (task, contender), group in sorted(groups.items()):
        votes = Counter(_vintage(cell) for cell in group if not cell.clean) or Counter(map(_vintage, group))
        chosen = max(votes, key=lambda vintage: (votes[vintage], vintage.episodes, vintage))
        belongs = [
            _vintage(cell)._replace(onset=chosen.onset if cell.clean else cell.onset) == chosen for cell in group
        ]
        kept += [cell for cell, ours in zip(group, belongs, strict=True) if ours]
        if not all(belongs):
            left_out.append(
                f"{belongs.count(False)} cells of {task}, {contender}: not agent {chosen.agent}, treatment "
                f"{chosen.treatment}, {chosen.episodes:,} episodes, onset {chosen.onset}"
            )
    return kept, left_out


class Vintage(NamedTuple):
    """What cells must share to be compared."""

    agent: str
    episodes: int
    onset: int
    treatment: str
    options: str


def _vintage(cell: Cell) -> Vintage:
    return Vintage(cell.agent, cell.episodes, cell.onset, cell.treatment, cell.options)


def _cell(row: Mapping[str, Any]) -> Cell:
    return Cell(**{field.name: row[field.name] for field in fields(Cell)})


def _point(measured: list[tuple[Cell, list[Episode], float]]) -> Point:
    episodes = [episode for _, group, _ in measured for episode in group]
    names = {"score", "length", *(name for episode in episodes for name in episode.measures)}
    detections = [episode.detection for episode in episodes if episode.detection is not None]
    return Point(
        values={name: _values(name, measured) for name in sorted(names)},
        surprise={cell.seed: _mean_surprise(group) for cell, group, _ in measured},
        detection=Detection.pool(detections) if detections else None,
        steps=sum(episode.length for episode in episodes),
        seconds=sum(seconds for _, _, seconds in measured),
    )


def _values(measure: str, measured: list[tuple[Cell, list[Episode], float]]) -> dict[int, dict[int, float]]:
    """Of one measure per seed, by the seed of the environment; episodes without it are left out."""
    found = {cell.seed: {e.env_seed: e.value(measure) for e in group} for cell, group, _ in measured}
    return {seed: {key: value for key, value in values.items() if value is not None} for seed, values in found.items()}


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
