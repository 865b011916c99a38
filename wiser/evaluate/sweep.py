"""A sweep: the grid of cells a plan stands for, and how one cell is run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from wiser import seeds
from wiser.envs.domain import find_task
from wiser.evaluate.methods import find_method
from wiser.evaluate.records import Cell, Episode
from wiser.evaluate.rollout import Trial, rollout
from wiser.faults import Scenario
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.store import load

PRESETS = Path(__file__).parent / "presets"
SEEDS_APART = 10_000
MOST_SEEDS = len(seeds.SWEEPS) // SEEDS_APART
CLEAN = "none"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a sweep covers: every combination of these. A plan is a YAML file with these fields."""

    tasks: tuple[str, ...]
    """Names of tasks."""
    methods: tuple[str, ...]
    """Names of methods."""
    faults: tuple[str, ...]
    """What breaks sensors."""
    failures: tuple[int, ...] = (1,)
    """How many sensors fail; 0 is the clean cell, the same for all faults."""
    intensities: tuple[float, ...] = (1.0,)
    """How badly."""
    proportions: tuple[float, ...] = (1.0,)
    """Share of the steps at which they are broken."""
    onset: int = 0
    """First step at which anything breaks."""
    severity: str = "default"
    """What intensity 1 means: a preset of the faults."""
    seeds: tuple[int, ...] = (0,)
    """Each, from 0 to 99, gives every cell episodes of its own."""
    steps: int = 15_000
    """Budget of a cell: as many whole episodes as would fit if each took the longest time a task allows."""

    def __post_init__(self) -> None:
        if outside := [seed for seed in self.seeds if not 0 <= seed < MOST_SEEDS]:
            raise ValueError(f"seeds of a plan are 0 to {MOST_SEEDS - 1}: others have another purpose; got {outside}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Plan:
        """Read plain values; unknown fields are a ValueError that lists the known ones."""
        known = [field.name for field in fields(cls)]
        if unknown := set(values) - set(known):
            raise ValueError(f"unknown fields {sorted(unknown)} in plan; there are {', '.join(known)}")
        fields_given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        return cls(**fields_given)

    @classmethod
    def read(cls, name_or_path: str) -> Plan:
        """Read a preset by name, or a YAML file."""
        path = PRESETS / f"{name_or_path}.yaml"
        path = path if path.is_file() else Path(name_or_path)
        if not path.is_file():
            known = ", ".join(sorted(found.stem for found in PRESETS.glob("*.yaml")))
            raise ValueError(f"no plan {name_or_path!r}: neither a file nor one of {known}")
        return cls.from_dict(yaml.safe_load(path.read_text()) or {})

    def cells(self) -> list[Cell]:
        """All cells, each once, grouped by task and method so that neighbours share an agent."""
        return list(dict.fromkeys(self._cells()))

    def _cells(self) -> Iterator[Cell]:
        for task, method, seed in product(self.tasks, self.methods, self.seeds):
            agent = agent_name(task, method)
            model = find_agent(agent)
            common: dict[str, Any] = {"task": task, "method": method, "seed": seed, "steps": self.steps}
            common["agent"] = f"{agent}@{(model.digest or '')[:16]}"
            common["treatment"] = find_method(method).treatment(model)
            for fault, failures, intensity, share in product(
                self.faults, self.failures, self.intensities, self.proportions
            ):
                if failures == 0:
                    yield Cell(**common, fault=CLEAN, intensity=0.0, proportion=0.0, failures=0)
                else:
                    name = fault if self.severity == "default" else f"{fault}/{self.severity}"
                    yield Cell(
                        **common, fault=name, intensity=intensity, proportion=share, failures=failures, onset=self.onset
                    )


def run_cell(cell: Cell) -> tuple[list[Episode], float]:
    """Drive all episodes of a cell; returns them and the seconds it took."""
    began = time.perf_counter()
    agent, task = find_agent(cell.agent.split("@")[0]), find_task(cell.task)
    seed = seeds.SWEEPS[cell.seed * SEEDS_APART]
    trial = Trial(task.env, max(1, cell.steps // (task.longest or cell.steps)), seed, scenario_of(cell))
    episodes = rollout(agent, find_method(cell.method), trial)
    return episodes, time.perf_counter() - began


def scenario_of(cell: Cell) -> Scenario | None:
    """What breaks in a cell; nothing in a clean one."""
    if cell.failures == 0:
        return None
    fault, _, severity = cell.fault.partition("/")
    return Scenario(
        faults=(fault,), sensors=cell.failures, intensity=cell.intensity, proportion=cell.proportion,
        preset=severity or "default", onset=cell.onset, seed=cell.seed,
    )  # fmt: skip


def agent_name(task: str, method: str) -> str:
    """Which shipped agent a method uses for a task."""
    return f"{find_task(task).agents}/{find_method(method).agent}"


@lru_cache(maxsize=4)
def find_agent(name: str) -> DreamerV3:
    """Load a shipped agent once per process."""
    return load(name)
