"""`wiser.benchmark`: break an agent's sensors in some ways, treat them in some ways, and compare."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wiser import seeds
from wiser.envs.domain import domain_of, find_task, floor_of, measures_of
from wiser.evaluate import statistics
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.records import Episode
from wiser.evaluate.rehearse import rehearse
from wiser.evaluate.treatments import Treatment, find_treatment
from wiser.faults import Scenario
from wiser.rollout import Disturbance, Trial, away_from_home
from wiser.worldmodel.protocol import WorldModel
from wiser.worldmodel.store import load

CLEAN = "clean"


@dataclass(frozen=True)
class Row:
    """One treatment under one scenario."""

    scenario: str
    treatment: str
    score: float
    low: float
    """Of the 95 % bootstrap interval of the mean; `high` is its other end."""
    high: float
    resilience: float | None
    """(score - floor) / (clean score of the first treatment - floor); None without a floor below that clean score."""
    episodes: int
    measures: dict[str, float] = field(default_factory=dict)
    """Means of what else the episodes are judged by, by name."""


class Comparison(tuple[Row, ...]):
    """Rows of results; prints as a table."""

    env: str = ""

    def __str__(self) -> str:
        width = max(len(row.scenario) for row in self)
        second = max(12, *(len(row.treatment) for row in self))
        known = measures_of(self.env)
        declared = {name: known[name] for name in self.measures if not known[name].detail}
        head = "".join(f" {measure.title:>10s}" for measure in declared.values())
        first = f"{'scenario':{width}s}  {'treatment':{second}s}"
        lines = [f"{first} {'score':>9s} {'95 % interval':>20s} resilience{head}"]
        for row in self:
            interval = f"{row.low:9.1f} to {row.high:7.1f}"
            share = "-" if row.resilience is None else f"{row.resilience:.2f}"
            more = "".join(f" {one.text(row.measures.get(name, np.nan)):>10s}" for name, one in declared.items())
            first = f"{row.scenario:{width}s}  {row.treatment:{second}s}"
            lines.append(f"{first} {row.score:9.1f} {interval:>20s} {share:>10s}{more}")
        scale = f"resilience: 0 is the floor, 1 the clean score of {self[0].treatment}"
        return "\n".join([*lines, f"{self[0].episodes} episodes each, the same ones for all; {scale}"])

    @property
    def measures(self) -> list[str]:
        """Names of what the episodes are judged by besides the score."""
        return list(dict.fromkeys(name for row in self for name in row.measures))

    def to_csv(self, path: str | Path) -> None:
        """Write the rows to a file, with a column for each measure."""
        rows = [{**{k: v for k, v in vars(row).items() if k != "measures"}, **row.measures} for row in self]
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
            writer.writeheader()
            writer.writerows(rows)


def benchmark(
    agent: WorldModel | str,
    env: str,
    scenarios: Mapping[str, Disturbance] | Sequence[Scenario],
    treatments: Mapping[str, Treatment] | Sequence[str] = ("none", "greedy", "exhaustive"),
    *,
    episodes: int = 64,
    rows: int | None = None,
    seed: int = seeds.TRYING.start,
    floor: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compare ways of treating an agent's sensors.

    agent: a model, or the name of a shipped one or of a model folder.
    env: a task (FourLane, StopSign, ...) or a Gymnasium id, also in the form `package.module:Name-v0`.
    scenarios: what breaks, by name; clean episodes are always driven too.
    treatments: names (auto, none, greedy, exhaustive, calibrated, witnesses, random, median, reject, predict), or
        `Treatment`s by name; the first one's clean score is the 1 of resilience.
    episodes: with the seeds from `seed` on; the same ones, with the same faults, for all treatments.
    rows: how many are driven side by side; None: all of them.
    floor: the 0 of resilience, such as the score of a random policy. By default that score where it is known;
        elsewhere no resilience is given.
    options: of the environment.
    """
    model = load(agent) if isinstance(agent, str) else agent
    named = dict(treatments) if isinstance(treatments, Mapping) else {name: find_treatment(name) for name in treatments}
    harms: dict[str, Disturbance | None] = {CLEAN: None, **_by_name(scenarios)}
    if not named:
        raise ValueError("name at least one treatment, such as none or greedy")
    floor, env = floor_of(env) if floor is None else floor, find_task(env).env
    rehearse(model, env, options or {}, harms.values(), named.values())
    if away := away_from_home(model, env):
        warnings.warn(away, stacklevel=2)
    driven = {
        (harm, name): run_episodes(model, treatment, Trial(env, episodes, seed, disturbance, options or {}, rows))
        for name, treatment in named.items()
        for harm, disturbance in harms.items()
    }
    clean = [episode.score for episode in driven[CLEAN, next(iter(named))]]
    table = Comparison(_row(harm, name, driven[harm, name], clean, floor, seed) for harm in harms for name in named)
    table.env = env
    return table


def _row(harm: str, name: str, episodes: list[Episode], clean: list[float], floor: float | None, seed: int) -> Row:
    scores = [episode.score for episode in episodes]
    estimate = statistics.mean([scores], np.random.default_rng(seed))
    return Row(
        harm, name, estimate.value, estimate.low, estimate.high, _resilience(scores, clean, floor), len(episodes),
        mean_measures(episodes),
    )  # fmt: skip


def mean_measures(episodes: Sequence[Episode]) -> dict[str, float]:
    """Mean of every measure over the episodes that have it."""
    names = dict.fromkeys(name for episode in episodes for name in episode.measures)
    found = {name: [e.measures[name] for e in episodes if name in e.measures] for name in names}
    return {name: float(np.mean(values)) for name, values in found.items()}


def figures_of(env: str, episodes: Sequence[Episode]) -> dict[str, str]:
    """What people are told about episodes besides their score: means that are no details, then the summaries."""
    means = [(measures_of(env)[name], mean) for name, mean in mean_measures(episodes).items()]
    told = {measure.title: measure.text(mean) for measure, mean in means if not measure.detail}
    judged = [{"score": episode.score, **episode.measures} for episode in episodes]
    return told | {name: f"{summary(judged):.2f}" for name, summary in domain_of(env).summaries.items()}


def _resilience(scores: list[float], clean: list[float], floor: float | None) -> float | None:
    if floor is None:
        return None
    found = statistics.resilience([scores], [clean], floor, np.random.default_rng(0))
    return None if found is None else found.value


def _by_name(scenarios: Mapping[str, Disturbance] | Sequence[Scenario]) -> dict[str, Disturbance]:
    if isinstance(scenarios, Mapping):
        return dict(scenarios)
    named: dict[str, Disturbance] = {describe(scenario): scenario for scenario in scenarios}
    if len(named) < len(scenarios):
        raise ValueError("two of the scenarios are described alike: give them names, {name: scenario}")
    return named


def describe(scenario: Scenario) -> str:
    """A scenario in a few words: all that is not as by default."""
    where = f"{scenario.sensors} sensors" if isinstance(scenario.sensors, int) else ", ".join(scenario.sensors)
    words = [f"{scenario.name} {scenario.intensity:g} on {where}"]
    words += [f"from step {scenario.onset}"] * (scenario.onset > 0)
    words += [f"{100 * scenario.proportion:g} % of the time"] * (scenario.proportion < 1)
    words += [scenario.preset] * (scenario.preset != "default")
    return ", ".join(words)
