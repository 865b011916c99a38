"""`wiser.benchmark`: break an agent's sensors in some ways, treat them in some ways, and compare."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from wiser import seeds
from wiser.envs.domain import find_task
from wiser.evaluate import statistics
from wiser.evaluate.methods import Method
from wiser.evaluate.rollout import Trial, rollout
from wiser.faults import Scenario
from wiser.worldmodel.protocol import WorldModel
from wiser.worldmodel.store import load

CLEAN = "clean"


@dataclass(frozen=True)
class Row:
    """One method under one scenario."""

    scenario: str
    method: str
    score: float
    low: float
    """Of the 95 % bootstrap interval of the mean; `high` is its other end."""
    high: float
    resilience: float | None
    """(score - floor) / (clean score of the first method - floor); None without a floor below that clean score."""
    success: float
    episodes: int


class Table(tuple[Row, ...]):
    """Rows of results; prints as a table."""

    def __str__(self) -> str:
        width = max(len(row.scenario) for row in self)
        lines = [f"{'scenario':{width}s}  {'method':12s} {'score':>8s} {'95 % interval':>18s} resilience success"]
        for row in self:
            interval = f"{row.low:8.1f} to {row.high:6.1f}"
            share = "-" if row.resilience is None else f"{row.resilience:.2f}"
            lines.append(
                f"{row.scenario:{width}s}  {row.method:12s} {row.score:8.1f} {interval:>18s} "
                f"{share:>10s} {row.success:7.0%}"
            )
        scale = f"resilience: 0 is the floor, 1 the clean score of {self[0].method}"
        return "\n".join([*lines, f"{self[0].episodes} episodes each, the same ones for all; {scale}"])

    def to_csv(self, path: str | Path) -> None:
        """Write the rows to a file."""
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, list(asdict(self[0])))
            writer.writeheader()
            writer.writerows(asdict(row) for row in self)


def benchmark(
    agent: WorldModel | str,
    env: str,
    scenarios: Mapping[str, Scenario] | Sequence[Scenario],
    methods: Mapping[str, Method] | Sequence[str] = ("none", "greedy", "exhaustive"),
    *,
    episodes: int = 64,
    seed: int = seeds.TRYING.start,
    floor: float | None = None,
) -> Table:
    """Compare ways of treating an agent's sensors.

    agent: a model, or the name of a shipped one or of a model folder.
    env: Gymnasium id of a vector environment that takes `sensors=`.
    scenarios: what breaks, by name; clean episodes are always driven too.
    methods: ways to trust (names from `wiser.guard.JUDGES`), or whole `Method`s by name; the first one's clean score
        is the 1 of resilience.
    episodes: driven side by side, with the seeds from `seed` on; the same ones, with the same faults, for all methods.
    floor: the 0 of resilience, such as the score of a random policy. By default that score where it is known, as for
        the driving tasks; elsewhere no resilience is given.
    """
    model = load(agent) if isinstance(agent, str) else agent
    named = dict(methods) if isinstance(methods, Mapping) else {name: Method("", name) for name in methods}
    if not isinstance(scenarios, Mapping):
        scenarios = {describe(scenario): scenario for scenario in scenarios}
    floor = find_task(env).random if floor is None else floor
    rows: list[Row] = []
    whole: list[float] = []
    for method_name, method in named.items():
        for name, scenario in {CLEAN: None, **scenarios}.items():
            driven = rollout(model, method, Trial(env, episodes, seed, scenario))
            scores = [episode.score for episode in driven]
            estimate = statistics.mean([scores], np.random.default_rng(seed))
            whole = whole or scores
            rows.append(
                Row(name, method_name, estimate.value, estimate.low, estimate.high, _resilience(scores, whole, floor),
                    float(np.mean([bool(episode.success) for episode in driven])), episodes)
            )  # fmt: skip
    order = [CLEAN, *scenarios]
    return Table(sorted(rows, key=lambda row: order.index(row.scenario)))


def _resilience(scores: list[float], clean: list[float], floor: float | None) -> float | None:
    if floor is None:
        return None
    found = statistics.resilience([scores], [clean], floor, np.random.default_rng(0))
    return None if found is None else found.value


def describe(scenario: Scenario) -> str:
    """A scenario in a few words."""
    where = f"{scenario.sensors} sensors" if isinstance(scenario.sensors, int) else ", ".join(scenario.sensors)
    return f"{' + '.join(scenario.faults)} {scenario.intensity:g} on {where}"
