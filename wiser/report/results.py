"""What a sweep left in its ledger, cell by cell and ready for figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from wiser.envs.domain import find_task, known_tasks
from wiser.evaluate import Cell, Detection, Episode, Histogram, Ledger
from wiser.evaluate.contenders import CONTENDERS
from wiser.evaluate.ledger import LEDGER
from wiser.evaluate.records import CLEAN
from wiser.evaluate.tables import has_tables


class ReportError(ValueError):
    """Results that cannot be reported on; the message says which, and what to do."""


class Driven(NamedTuple):
    """A stratum of the statistics: episodes of one seed of a plan, driven by the agent of one training run."""

    run: int
    seed: int


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
    """All that was measured in one setting. Seeds and training runs are kept apart: the strata of the statistics."""

    values: Mapping[str, Mapping[Driven, Mapping[int, float]]]
    """By measure, the score among them; then per stratum, by the seed of the environment."""
    surprise: Mapping[Driven, tuple[float, ...]]
    """Per stratum, the mean surprise of each episode: over its faulty steps, or over all of them in a clean setting."""
    detection: Detection | None
    """Of all episodes pooled."""
    steps: int
    """Taken, over all episodes."""
    seconds: float

    @property
    def scores(self) -> Mapping[Driven, Mapping[int, float]]:
        """Per stratum, by the seed of the environment."""
        return self.values["score"]

    @property
    def strata(self) -> list[list[float]]:
        """Scores per stratum."""
        return self.strata_of("score")

    def strata_of(self, measure: str) -> list[list[float]]:
        """Values of a measure per stratum; strata without any are left out."""
        return [list(values.values()) for values in self._measured(measure).values()]

    def clusters_of(self, measure: str) -> list[list[tuple[int, int]]]:
        """Seed and seed of the environment of each value of `strata_of`: the same episode in all settings of a task."""
        return [[(driven.seed, env) for env in values] for driven, values in self._measured(measure).items()]

    def runs_of(self, measure: str) -> list[tuple[str, int]]:
        """The training run of each stratum of `strata_of`."""
        return [("agent", driven.run) for driven in self._measured(measure)]

    def _measured(self, measure: str) -> dict[Driven, Mapping[int, float]]:
        return {driven: values for driven, values in self.values.get(measure, {}).items() if values}

    @property
    def measured(self) -> list[list[dict[str, float]]]:
        """Per stratum, what each episode is judged by, by name: its score among them."""
        names = [name for name in self.values if name != "length"]
        return [
            [{name: self.values[name][key][env] for name in names if env in self.values[name][key]} for env in scores]
            for key, scores in self.scores.items()
        ]

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
    """Scores of two points in the episodes that both have, per stratum and in the same order."""

    ours: list[list[float]]
    theirs: list[list[float]]
    episodes: list[list[tuple[int, int]]]
    runs: list[tuple[str, int]]
    """The training run of each stratum, of both."""


def pairs(ours: Point, theirs: Point) -> Pairs | None:
    """What two points have in common; None if that is nothing."""
    shared = {driven: [env for env in scores if env in theirs.scores.get(driven, {})]
              for driven, scores in ours.scores.items()}  # fmt: skip
    common = {driven: found for driven, found in shared.items() if found}
    mine, other = ([[p.scores[driven][env] for env in found] for driven, found in common.items()]
                   for p in (ours, theirs))  # fmt: skip
    episodes = [[(driven.seed, env) for env in found] for driven, found in common.items()]
    return Pairs(mine, other, episodes, [("agent", driven.run) for driven in common]) if common else None


class Pool(NamedTuple):
    """Pairs of many settings, as the statistics take them."""

    ours: list[list[float]]
    theirs: list[list[float]]
    clusters: list[list[tuple[str, tuple[int, int]]]]
    """An episode is the same in all settings of a task."""
    runs: list[tuple[str, int]]
    """So is a training run."""


def pool(found: Iterable[tuple[Setting, Pairs]], normalised: bool) -> Pool:
    """Strata of all settings; scores as they are, or as a share of the way from a random policy to the expert."""
    pooled = Pool([], [], [], [])
    for setting, pair in found:
        scale = find_task(setting.task).normalise if normalised else float
        pooled.ours.extend([scale(score) for score in scores] for scores in pair.ours)
        pooled.theirs.extend([scale(score) for score in scores] for scores in pair.theirs)
        pooled.clusters.extend([(setting.task, episode) for episode in stratum] for stratum in pair.episodes)
        pooled.runs.extend((setting.task, run) for _, run in pair.runs)
    return pooled


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
    for cell in sorted(kept, key=lambda cell: (cell.run, cell.seed)):
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
    """Keep one agent, treatment, number of episodes and onset per task, contender and training run, with most cells.

    A ledger may have met several: an agent was trained again, a sweep was tried with fewer episodes. Numbers of one
    must not stand beside numbers of another as if they could be compared.
    """
    groups: dict[tuple[str, str, int], list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.task, cell.contender, cell.run].append(cell)
    kept, left_out = [], []
    for (task, contender, _), group in sorted(groups.items()):
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
        surprise={Driven(cell.run, cell.seed): _mean_surprise(group) for cell, group, _ in measured},
        detection=Detection.pool(detections) if detections else None,
        steps=sum(episode.length for episode in episodes),
        seconds=sum(seconds for _, _, seconds in measured),
    )


def _values(measure: str, measured: list[tuple[Cell, list[Episode], float]]) -> dict[Driven, dict[int, float]]:
    """Of one measure per stratum, by the seed of the environment; episodes without it are left out."""
    found = {Driven(cell.run, cell.seed): {e.env_seed: e.value(measure) for e in group} for cell, group, _ in measured}
    return {key: {env: value for env, value in values.items() if value is not None} for key, values in found.items()}


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
