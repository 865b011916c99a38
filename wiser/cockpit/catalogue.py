"""What can be chosen: where to drive, who drives, and how each side treats its sensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wiser.envs.domain import find_task, known_tasks
from wiser.evaluate.treatments import TREATMENTS, find_treatment
from wiser.guard.blindness import BlindLimit, blind_steps
from wiser.rollout import home_of
from wiser.worldmodel.store import SHIPPED, find, shipped

LARGEST_SEED = 2**31 - 1  # that every environment takes


@dataclass(frozen=True)
class Choice:
    """What is driven: an episode of an environment, by two copies of an agent."""

    env: str
    """Gymnasium id."""
    agent: str
    """A shipped agent, or a model folder."""
    left: str = "none"
    """Name of a treatment."""
    right: str = "auto"
    """Name of a treatment."""
    seed: int = 0
    """Of the episode, of the faults and of the guards."""
    blind_limit: BlindLimit = None
    """Steps without a trusted sensor after which the environment's safe action is taken, if it has one."""
    env_options: Mapping[str, Any] = field(default_factory=dict)
    """What to tell the environment."""

    def __post_init__(self) -> None:
        for treatment in self.treatments:
            find_treatment(treatment)
        blind_steps(self.blind_limit, None)
        if not (isinstance(self.seed, int) and 0 <= self.seed <= LARGEST_SEED):
            raise ValueError(f"a seed is a whole number from 0 to {LARGEST_SEED}, got {self.seed!r}")

    @property
    def treatments(self) -> tuple[str, str]:
        """How the sides treat their sensors."""
        return self.left, self.right


def _titles() -> dict[str, str]:
    return {task.env: task.title for task in known_tasks()}


def _shipped() -> dict[str, str]:
    return {name: home_of(SHIPPED / name) or "" for name in shipped()}


def _treatments() -> dict[str, str]:
    return {name: treatment.about for name, treatment in TREATMENTS.items()}


@dataclass
class Catalogue:
    """The environments, agents and treatments that the page offers."""

    envs: dict[str, str] = field(default_factory=_titles)
    """{Gymnasium id: its name in words}."""
    agents: dict[str, str] = field(default_factory=_shipped)
    """{name or folder: the environment it was trained in, empty if not known}."""
    treatments: dict[str, str] = field(default_factory=_treatments)
    """{name: what it does}."""

    def choose(
        self,
        env: str | None,
        agent: str | None,
        left: str,
        right: str,
        seed: int,
        blind_limit: BlindLimit = None,
        env_options: Mapping[str, Any] | None = None,
    ) -> Choice:
        """Fill in what was not said, and offer what was said from now on."""
        if agent is not None:
            self.agents.setdefault(agent, home_of(find(agent)) or "")
        home = self.agents.get(agent or "") or next(filter(None, self.agents.values()), next(iter(self.envs)))
        env = find_task(env or home).env
        agent = agent or self.agent_for(env)
        self.envs.setdefault(env, find_task(env).title)
        for treatment in (left, right):
            self.treatments.setdefault(treatment, find_treatment(treatment).about)
        return Choice(env, agent, left, right, seed, blind_limit, env_options or {})

    def agent_for(self, env: str) -> str:
        """An agent that was trained there, or any; one that may lose sensors if there is a choice."""
        if not self.agents:
            raise ValueError("no agents are shipped with this installation: name a model folder with --agent")
        at_home = [name for name, home in self.agents.items() if home == env]
        return next((name for name in at_home if name.endswith("/dropout")), [*at_home, *self.agents][0])
