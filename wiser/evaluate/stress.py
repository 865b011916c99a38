"""The worst scenario for every treatment of an agent's sensors: searched, confirmed, written down."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from wiser import seeds
from wiser.checks import at_least, check_folder
from wiser.envs.domain import find_task
from wiser.evaluate import statistics
from wiser.evaluate.benchmark import describe
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.records import Episode
from wiser.evaluate.rehearse import rehearse
from wiser.evaluate.treatments import Treatment, find_treatment, resolve_name
from wiser.evaluate.worst import Space, search
from wiser.faults import Scenario
from wiser.files import write_atomic
from wiser.rollout import Trial
from wiser.worldmodel.protocol import WorldModel
from wiser.worldmodel.store import load

SCORES = "worst.json"
UNSEEN = 100_000
"""From the first seed of the search on to the first of the episodes that confirm it."""


@dataclass(frozen=True)
class Stress:
    """An agent in an environment, and the treatments to put under stress."""

    agent: str
    env: str
    names: Sequence[str]
    options: Mapping[str, Any]
    episodes: int
    confirm: int

    def __post_init__(self) -> None:
        at_least(1, episodes=self.episodes, confirm=self.confirm)

    @cached_property
    def model(self) -> WorldModel:
        """The agent, loaded."""
        found: WorldModel = load(self.agent)
        return found

    @cached_property
    def treatments(self) -> dict[str, Treatment]:
        """By name."""
        names = [resolve_name(name, self.model) for name in self.names]
        return {name: find_treatment(name) for name in names}

    def run(self, faults: Sequence[str], most: int | None, tries: int, seed: int, out: Path) -> None:
        """Search for each treatment, confirm with all of them, write what was found."""
        at_least(1, tries=tries, most=most)
        check_folder(out)
        sensors = tuple(sensor.name for sensor in self.model.sensors)
        count = min(most or max(1, len(sensors) - 1), len(sensors))
        for fault in faults:  # a mistake is found before anything is driven
            Scenario(faults=(fault,), sensors=1)
        rehearse(self.model, find_task(self.env).env, self.options, [None], self.treatments.values())
        length = int(np.median([e.length for e in self.drive(next(iter(self.treatments)), None, seed, self.episodes)]))
        space = Space(sensors, count, tuple(faults), length)
        report: dict[str, Any] = {}
        for name in self.treatments:
            report[name] = self._worst(name, space, tries, seed, out)
            body = json.dumps({"agent": self.agent, "env": self.env, "worst": report}, indent=1)
            write_atomic(out / SCORES, f"{body}\n".encode())

    def _worst(self, name: str, space: Space, tries: int, seed: int, out: Path) -> dict[str, Any]:
        def score(scenario: Scenario) -> float:
            driven = self.drive(name, replace(scenario, seed=seed), seed, self.episodes)
            return float(np.mean([episode.score for episode in driven]))

        rng = seeds.generator("worst", seed)
        tried = list(track(search(score, space, tries, rng), f"{name:12s}", tries, transient=True))
        found = min(tried, key=lambda one: one.score)
        scenario = replace(found.scenario, seed=seed + UNSEEN)
        self._write(out / f"{name.replace('/', '-')}.yaml", name, scenario)  # settings may name a file
        console = Console()
        console.print(f"{name}: {describe(scenario)}, {space.length} steps; {found.score:.0f} in the search",
                      highlight=False, soft_wrap=True)  # fmt: skip
        confirmed = {other: self._confirm(other, scenario) for other in self.treatments}
        for other, (value, low, high) in confirmed.items():
            console.print(f"  {other:12s} {value:8.1f} ({low:.1f} to {high:.1f}, 95 %)", highlight=False)
        return {"scenario": describe(scenario), "searched": found.score, "confirmed": confirmed}

    def _write(self, path: Path, name: str, scenario: Scenario) -> None:
        """The scenario, and how to replay it."""
        first = seeds.TRYING.start + scenario.seed
        command = f"wiser eval {self.agent} {self.env} --scenario {path.name} --treatments {name} --seed {first}"
        write_atomic(path, f"# {command} --episodes {self.confirm}\n{scenario.to_yaml()}".encode())

    def _confirm(self, name: str, scenario: Scenario) -> tuple[float, float, float]:
        driven = self.drive(name, scenario, scenario.seed, self.confirm)
        mean = statistics.mean([[episode.score for episode in driven]], np.random.default_rng(0))
        return round(mean.value, 1), round(mean.low, 1), round(mean.high, 1)

    def drive(self, name: str, scenario: Scenario | None, seed: int, episodes: int) -> list[Episode]:
        """Episodes under a treatment."""
        trial = Trial(find_task(self.env).env, episodes, seeds.TRYING.start + seed, scenario, self.options)
        return run_episodes(self.model, self.treatments[name], trial)
