"""What the rest of the house knows of the driving world."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import SyncVectorEnv
from numpy.typing import NDArray

from wiser.envs.domain import Domain, Measure, Rows, Task, Teacher, View, register
from wiser.envs.driving.tasks import TASKS, TIME_LIMIT

AGENTS = {"FourLane": "four-lane", "RightTurn": "right-turn", "StopSign": "stop-sign"}
SCORES = Path(__file__).with_name("scores.json")
"""Of a random policy and of the scripted driver; `python -m wiser.envs.driving.scores` measures them."""


class Driver:
    """The scripted driver of a batch of worlds."""

    def __init__(self, env: Any) -> None:
        self._env = env

    def actions(self) -> NDArray[Any]:
        """What it would do now."""
        return np.asarray(self._env.expert_actions())

    def policy(self) -> NDArray[Any] | None:
        """Its steering and pedal lie between discrete actions: both neighbours, in proportion."""
        return None if self._env.continuous else np.asarray(self._env.expert_policy())


def driver(env: Rows) -> Teacher | None:
    """The driver of an environment, where it has one."""
    return Driver(env.unwrapped) if hasattr(env.unwrapped, "expert_actions") else None


def view(env: Rows, row: int) -> View:
    """The world from above, as it really is."""
    from wiser.envs.driving.outlook import Outlook

    rows: Any = env.unwrapped
    if isinstance(rows, SyncVectorEnv):  # CARLA: one server each
        one: Any = rows.envs[row].unwrapped
        return Outlook(one.batch.world).draw
    return Outlook(rows.world, row).draw


def stop(env: str, space: gym.Space[Any]) -> Any:
    """A controlled stop: brake, and keep the wheel straight."""
    if isinstance(space, gym.spaces.Discrete):
        return space.start + 2  # of 3 x 5 actions: the lowest acceleration, the middle of five steering angles
    assert isinstance(space, gym.spaces.Box)
    return np.array([space.low[0], 0.0], np.float32)


def _describe(name: str, scores: dict[str, Any]) -> tuple[Task, Task]:
    """A task in the embedded world and on a CARLA server, where nobody measured references."""
    references = {policy: scores[name][policy]["score"] for policy in ("random", "expert")}
    embedded = Task(f"wiser/{name}-v0", name, TASKS[name].title, TIME_LIMIT, AGENTS.get(name, ""), **references)
    carla = Task(f"wiser/Carla{name}-v0", f"Carla{name}", f"{TASKS[name].title} on CARLA", TIME_LIMIT)
    return embedded, carla


for _name in TASKS:
    gym.register(
        id=f"wiser/{_name}-v0",
        entry_point="wiser.envs.driving.env:DrivingEnv",
        vector_entry_point="wiser.envs.driving.env:DrivingVectorEnv",
        kwargs={"task": _name},
    )
    gym.register(
        id=f"wiser/Carla{_name}-v0",
        entry_point="wiser.envs.driving.carla_backend.env:CarlaEnv",
        kwargs={"task": _name},
    )

_SCORES = json.loads(SCORES.read_text())["tasks"]
register(
    Domain(
        tasks=tuple(task for kind in zip(*(_describe(name, _SCORES) for name in TASKS), strict=True) for task in kind),
        measures={
            "success": Measure("any", "more", "success"),
            "collision": Measure("any", "less", "collisions"),
        },
        endings={
            "success": "arrived",
            "collision": "collided",
            "off_route": "left the route",
            "stop_violation": "ran the stop sign",
        },
        chooses_sensors=True,
        teacher=driver,
        view=view,
        fallback=stop,
    )
)
