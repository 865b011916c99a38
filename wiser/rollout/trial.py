"""What is driven: which episodes of which environment, and what makes them hard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from wiser.checks import at_least
from wiser.envs.domain import Rows, find_task
from wiser.envs.vector import make_rows

UNLIMITED = 10_000
"""Steps after which an episode is cut off where neither the environment nor the caller knows a limit."""


class Disturbance(Protocol):
    """What makes a trial hard: a scenario of sensor faults, or a novelty of the domain itself."""

    @property
    def name(self) -> str:
        """In ledgers and figures."""

    @property
    def seed(self) -> int:
        """Of everything random in it."""

    def apply(self, env: Rows, row: int) -> Rows:
        """Disturb an environment whose first row is the `row`-th of the trial.

        The result has `sensor_names`, and its infos have `fault_intensity` (B, N): how badly each of these is affected.
        """


@dataclass(frozen=True)
class Trial:
    """Episodes `seed`, `seed + 1`, ... of an environment, disturbed or not."""

    env: str
    """Gymnasium id."""
    episodes: int
    seed: int
    disturbance: Disturbance | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the environment."""
    rows: int | None = None
    """Environments stepped side by side, at least 8 where there are more episodes than that; None: all at once."""
    longest: int | None = None
    """Steps after which an episode is cut off; None: the task's own limit."""
    processes: bool = False
    """Whether each environment has a process of its own."""

    def __post_init__(self) -> None:
        at_least(1, episodes=self.episodes, rows=self.rows, longest=self.longest)
        at_least(0, seed=self.seed)

    @property
    def limit(self) -> int:
        """Steps of the longest possible episode."""
        return self.longest or find_task(self.env).longest or UNLIMITED

    def make(self, rows: int, row: int, sensors: Sequence[str], pictures: bool = False) -> Rows:
        """The environments of `rows` episodes from the `row`-th on, observed by `sensors`."""
        env = make_rows(self.env, rows, sensors, self.options, self.processes, pictures)
        return env if self.disturbance is None else self.disturbance.apply(env, row)
