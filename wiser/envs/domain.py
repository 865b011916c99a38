"""Seam two: all that the rest of the house knows of an environment.

A domain describes a family of environments. It is found by the environment's id; a default serves any Gymnasium id, so
nothing needs a description to be trained, broken, guarded and compared. `register` adds one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import gymnasium as gym
from gymnasium.vector import SyncVectorEnv, VectorEnv
from numpy.typing import NDArray

from wiser.modules import import_from_here
from wiser.names import perhaps

Rows = VectorEnv[Any, Any, Any]


@dataclass(frozen=True)
class Task:
    """One environment of a domain."""

    env: str
    """Gymnasium id."""
    name: str
    """In ledgers and figures."""
    title: str
    """In words."""
    longest: int | None = None
    """Steps of the longest episode; None if there is no limit."""
    agents: str = ""
    """Folder under `models/` with one shipped agent per variant."""
    random: float | None = None
    """Mean score of a random policy, where somebody measured it."""
    expert: float | None = None
    """Mean score of an expert."""

    def normalise(self, score: float) -> float:
        """A score on the scale where the random policy has 0 and the expert 1."""
        if self.random is None or self.expert is None:
            raise ValueError(f"no reference scores of {self.name!r} to normalise by")
        return (score - self.random) / (self.expert - self.random)


@dataclass(frozen=True)
class Measure:
    """Something besides the score that an episode is judged by: a key of `info`, and how it adds up over the steps."""

    how: Literal["sum", "any", "last"]
    better: Literal["more", "less"]
    title: str
    """What the mean over episodes is called."""
    detail: bool = False
    """Whether it is one of many that a summary speaks for: kept with every episode, but not in lines and figures."""

    @property
    def runs(self) -> bool:
        """Whether it is worth following while an episode lasts, beside the score: it adds up, and is no detail."""
        return self.how == "sum" and not self.detail

    def text(self, mean: float) -> str:
        """A mean over episodes as people read it: the share of episodes for what happens or not, else a number."""
        return f"{mean:.0%}" if self.how == "any" else f"{mean:.2f}"


class Teacher(Protocol):
    """A scripted expert that looks at the state of all rows of an environment."""

    def actions(self) -> NDArray[Any]:
        """What it would do now: actions of the environment, one per row."""

    def policy(self) -> NDArray[Any] | None:
        """The same as probabilities of discrete actions (B, A), where it knows better than one choice."""


Summary = Callable[[Sequence[Mapping[str, float]]], float]
"""A figure of many episodes, from the `score` and the measures of each."""
View = Callable[[], NDArray[Any] | None]
"""Draws a picture (H, W, 3) for people, or nothing."""


def _no_teacher(env: Rows) -> Teacher | None:
    return None


def _render(env: Rows, row: int) -> View:
    """What the environment itself draws of a row, if it was made to draw."""
    if env.render_mode != "rgb_array":
        return lambda: None
    if isinstance(env.unwrapped, SyncVectorEnv):
        return env.unwrapped.envs[row].render  # type: ignore[return-value]

    def draw() -> NDArray[Any] | None:
        pictures: Any = env.render()
        return None if pictures is None else pictures[row]

    return draw


@dataclass(frozen=True)
class Domain:
    """A family of environments."""

    tasks: tuple[Task, ...] = ()
    measures: Mapping[str, Measure] = field(
        default_factory=lambda: {
            "success": Measure("any", "more", "success"),
            "cost": Measure("sum", "less", "cost"),
        }
    )
    """By their key in `info`; those that an environment never mentions are left out."""
    summaries: Mapping[str, Summary] = field(default_factory=dict)
    """Figures of many episodes that are no mean of one measure, by name."""
    endings: Mapping[str, str] = field(default_factory=lambda: {"success": "success"})
    """What a flag in `info` at the end of an episode means, in words; the first that is set counts."""
    steps_per_second: float = 10.0
    """How fast people watch it."""
    chooses_sensors: bool = False
    """Whether its environments can be made with some of their sensors only, by the option `sensors`."""
    sample_actions: bool = False
    """Whether an agent's policy is sampled when it is evaluated, too, instead of taking the most likely action: where a
    wrong action that is taken again and again is ruinous, and now and then another one is not."""
    teacher: Callable[[Rows], Teacher | None] = _no_teacher
    """A scripted expert of an environment, if there is one."""
    view: Callable[[Rows, int], View] = _render
    """What draws one row for people, as it really is."""
    novelties: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Disturbances of its own besides sensor faults: functions of intensity, proportion, onset and seed that give a
    `wiser.rollout.Disturbance`."""
    fallback: Callable[[str, gym.Space[Any]], Any] | None = None
    """The safe action, in an environment with this id and action space, when blind for too long."""

    def ending(self, info: Mapping[str, Any], truncated: bool) -> str:
        """How an episode ended, in a few words."""
        over = "out of time" if truncated else "over"
        return next((words for flag, words in self.endings.items() if info.get(flag)), over)


_DOMAINS: list[Domain] = []
_ANY = Domain()


def register(domain: Domain) -> None:
    """Make a domain known; of two that describe the same environment the later one counts."""
    _DOMAINS.insert(0, domain)


def spec_of(env: str) -> Any:
    """Gymnasium's own description of an id, also in its import form `package.module:Name-v0`; ValueError if unknown.

    The module may lie in the current folder.
    """
    module, name = _split(env)
    try:
        _import(module)
        return gym.spec(name)
    except (ImportError, gym.error.Error) as error:
        raise ValueError(f"no environment {env!r}: {error}") from error


def _split(env: str) -> tuple[str, str]:
    """The module that is to be imported first, if any, and the id without it."""
    module, _, name = env.rpartition(":")
    return module, name


def _import(module: str) -> None:
    if module:
        import_from_here(module)


def _described(name: str) -> tuple[Domain, Task | None]:
    """The domain and the task of a task's name or an environment's id, whose module may be what registers them."""
    module, bare = _split(name)
    with suppress(ImportError):  # a ledger can be read where its environment is not installed
        _import(module)
    for domain in _DOMAINS:
        for task in domain.tasks:
            if bare in (task.name, _split(task.env)[1]):
                return domain, task
    return _ANY, None


def domain_of(env: str) -> Domain:
    """The domain of an environment's id, or of a task's name."""
    return _described(env)[0]


def known_tasks() -> tuple[Task, ...]:
    """Every task that a domain describes, in the order of their registration."""
    return tuple(task for domain in reversed(_DOMAINS) for task in domain.tasks)


def references(task: str) -> tuple[float, float] | None:
    """Scores of a random policy and of an expert in a described task; None if nobody measured them."""
    _, known = _described(task)
    if known is None or known.random is None or known.expert is None:
        return None
    return known.random, known.expert


def floor_of(task: str) -> float | None:
    """Score of a random policy in a described task, the 0 of resilience; None if nobody measured it."""
    _, known = _described(task)
    return None if known is None else known.random


def measures_of(task: str) -> Mapping[str, Measure]:
    """What episodes of a task are judged by besides their score; the task is named as in ledgers."""
    return domain_of(task).measures


def find_task(name: str) -> Task:
    """A task by its name or by its environment's id; an undescribed environment is a task with that id for a name."""
    _, task = _described(name)
    module, bare = _split(name)
    if task is not None:
        return replace(task, env=name) if module else task
    try:
        return Task(name, name, bare.rpartition("/")[2], spec_of(name).max_episode_steps)
    except ValueError as error:
        known = [task.name for task in known_tasks()]
        guess = perhaps(name, [*known, *(task.env for task in known_tasks())])
        raise ValueError(
            f"unknown task {name!r}{guess}: neither one of {', '.join(known)}, nor a Gymnasium id ({error})"
        ) from error
