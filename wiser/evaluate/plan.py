"""What a sweep covers: a grid of cells, described by a few lists in a YAML file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from wiser import seeds
from wiser.checks import check_fields
from wiser.envs.domain import domain_of
from wiser.evaluate.contenders import Contender, agent_name, find_agent, find_contender, treatment_of
from wiser.evaluate.records import CLEAN, Cell
from wiser.evaluate.treatments import Treatment
from wiser.faults import Scenario
from wiser.names import perhaps

PLANS = Path(__file__).parent / "presets"
SEEDS_APART = 10_000
MOST_SEEDS = len(seeds.SWEEPS) // SEEDS_APART
LISTS = (
    "tasks", "contenders", "agents", "training_runs", "disturbances", "failures", "intensities", "proportions", "seeds",
)  # fmt: skip
SHIPPED = "shipped"


class Job(NamedTuple):
    """A cell and what it takes to run it."""

    cell: Cell
    agent: str
    """The name to load it by."""
    treatment: Treatment
    processes: bool = False
    """Whether each environment has a process of its own, which changes no result."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Every combination of these. Contenders are named, or the product of `agents` and `treatments`, or both."""

    tasks: tuple[str, ...]
    """Names of tasks, or Gymnasium ids."""
    contenders: tuple[str, ...] = ()
    """Agents with a treatment that have a name: base, confident, ..."""
    agents: tuple[str, ...] = ()
    """Names of agents, or model folders."""
    training_runs: tuple[str, ...] = (SHIPPED,)
    """Folders with agents of the same names, one for each training run: `shipped`, and for instance `runs/seed-1`, in
    which `four-lane/dropout` is a model folder. Intervals then draw runs as well as episodes."""
    treatments: tuple[str, ...] | Mapping[str, Mapping[str, Any]] = ("none",)
    """How the sensors of each of `agents` are treated: names, or {name: settings}."""
    disturbances: tuple[str, ...] = ()
    """Faults that break sensors, or novelties of the domain."""
    failures: tuple[int, ...] = (1,)
    """How many sensors fail; 0 is the clean cell, the same for all disturbances. A novelty affects what it affects."""
    intensities: tuple[float, ...] = (1.0,)
    """How badly."""
    proportions: tuple[float, ...] = (1.0,)
    """Share of the steps at which they are broken."""
    onset: int = 0
    """First step at which anything is wrong."""
    severity: str = "default"
    """What intensity 1 means: a preset of the faults."""
    seeds: tuple[int, ...] = (0,)
    """Each, from 0 to 99, gives every cell episodes of its own."""
    episodes: int = 30
    """Of every cell."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the environments."""
    processes: bool = False
    """Step each environment in a process of its own; worth it where a simulator is slow."""

    def __post_init__(self) -> None:
        if outside := [seed for seed in self.seeds if not 0 <= seed < MOST_SEEDS]:
            raise ValueError(f"seeds of a plan are 0 to {MOST_SEEDS - 1}: others have another purpose; got {outside}")
        if not self.contenders and not self.agents:
            raise ValueError("a plan names contenders, or agents (and treatments)")
        if self.episodes < 1 or min(self.failures, default=0) < 0:
            raise ValueError(
                "a plan drives at least 1 episode in every cell, and at least 0 sensors fail, got "
                f"{self.episodes} episodes, failures {list(self.failures)}"
            )
        if empty := [name for name in ("tasks", "failures", "intensities", "proportions", "seeds", "treatments",
                                  "training_runs")
                     if not getattr(self, name)]:  # fmt: skip
            raise ValueError(f"a plan without {', '.join(empty)} has nothing to drive")
        if not self.disturbances and any(self.failures):
            raise ValueError("a plan names disturbances, unless nothing fails (failures: [0])")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Plan:
        """Read plain values; unknown fields are a ValueError that lists the known ones."""
        check_fields(cls, values, "a plan")
        if "tasks" not in values:
            raise ValueError("a plan names its tasks")
        if single := [name for name in LISTS if name in values and not isinstance(values[name], list)]:
            raise ValueError(f"{single[0]} of a plan is a list, as in {single[0]}: [{values[single[0]]}]")
        fields_given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        return cls(**fields_given)

    @classmethod
    def read(cls, name_or_path: str) -> Plan:
        """Read a preset by name, or a YAML file."""
        path = PLANS / f"{name_or_path}.yaml"
        path = path if path.is_file() else Path(name_or_path)
        if not path.is_file():
            known = sorted(found.stem for found in PLANS.glob("*.yaml"))
            guess = perhaps(name_or_path, known)
            raise ValueError(f"no plan {name_or_path!r}{guess}: neither a file nor one of {', '.join(known)}")
        try:
            return cls.from_dict(yaml.safe_load(path.read_text()) or {})
        except (yaml.YAMLError, TypeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not a plan: {error}") from error

    @property
    def own_treatments(self) -> dict[str, Treatment]:
        """Those that the plan itself describes."""
        described = self.treatments if isinstance(self.treatments, Mapping) else {}
        return {name: Treatment.from_dict(settings) for name, settings in described.items()}

    def named(self) -> dict[str, Contender]:
        """All contenders, by the names they have in figures."""
        found = {name: find_contender(name) for name in self.contenders}
        for agent, treatment in product(self.agents, self.treatments):
            parts = [agent] * (len(self.agents) > 1 or len(self.treatments) == 1)
            parts += [treatment] * (len(self.treatments) > 1)
            found[" ".join(parts)] = Contender(agent, treatment)
        return found

    def jobs(self) -> list[Job]:
        """All cells, each once, grouped by task and contender so that neighbours share an agent."""
        return list({job.cell: job for job in self._jobs()}.values())

    def _jobs(self) -> Iterator[Job]:
        options = json.dumps(self.options, sort_keys=True) if self.options else ""
        trained = list(enumerate(self.training_runs))
        for task, (name, contender), (run, folder) in product(self.tasks, self.named().items(), trained):
            agent = agent_name(task, contender.agent)
            place = agent if folder == SHIPPED else f"{folder}/{agent}"
            model, treatment = find_agent(place), treatment_of(contender, self.own_treatments)
            acting = " sampled" if domain_of(task).sample_actions else ""
            common: dict[str, Any] = {
                "task": task,
                "contender": name,
                "agent": f"{agent}{f'#{run}' if run else ''}@{(model.digest or '')[:16]}",
                "treatment": f"{contender.treatment}@{treatment.digest(model)}{acting}",
                "episodes": self.episodes,
                "options": options,
            }
            for seed in self.seeds:
                for cell in self._harm({**common, "seed": seed}):
                    yield Job(cell, place, treatment, self.processes)

    def _harm(self, common: dict[str, Any]) -> Iterator[Cell]:
        """The cells of one contender: every way in which something, or nothing, is wrong."""
        if 0 in self.failures:
            yield Cell(**common, disturbance=CLEAN, intensity=0.0, proportion=0.0, failures=0)
        broken = [failures for failures in self.failures if failures]
        novelties = domain_of(common["task"]).novelties
        for what, failures, intensity, share in product(self.disturbances, broken, self.intensities, self.proportions):
            name = what if self.severity == "default" or what in novelties else f"{what}/{self.severity}"
            cell = Cell(
                **common, disturbance=name, intensity=intensity, proportion=share, failures=failures, onset=self.onset
            )
            disturbance_of(cell)  # a mistake is found before anything is driven
            yield cell


def disturbance_of(cell: Cell) -> Any:
    """What is wrong in a cell, as a `Disturbance`; None in a clean one."""
    if cell.clean:
        return None
    novelties = domain_of(cell.task).novelties
    if cell.disturbance in novelties:
        how = {"intensity": cell.intensity, "proportion": cell.proportion, "onset": cell.onset, "seed": cell.seed}
        return novelties[cell.disturbance](**how)
    fault, _, severity = cell.disturbance.partition("/")
    return Scenario(
        faults=(fault,), sensors=cell.failures, intensity=cell.intensity, proportion=cell.proportion,
        preset=severity or "default", onset=cell.onset, seed=cell.seed,
    )  # fmt: skip
