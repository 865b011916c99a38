"""What the rest of the house knows of Safety Gymnasium. The package is needed to drive, not to read this."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import SyncVectorEnv
from numpy.typing import NDArray

from wiser.envs.domain import Domain, Measure, Rows, Task, Teacher, register
from wiser.envs.safety.names import LENGTH, TASKS

SCORES = Path(__file__).with_name("scores.json")
"""Of a random policy and of the scripted pilot; `python -m wiser.envs.safety.scores` measures them."""
AGENTS = {
    "SafetyPointGoal1": "point-goal1",
    "SafetyPointGoal2": "point-goal2",
    "SafetyPointButton1": "point-button1",
    "SafetyCarGoal1": "car-goal1",
}


class Pilots:
    """The scripted pilot of every row."""

    def __init__(self, courses: Sequence[Any]) -> None:
        from wiser.envs.safety.pilot import Pilot

        self._pilots = [Pilot(course) for course in courses]

    def actions(self) -> NDArray[Any]:
        """What they would do now."""
        return np.stack([pilot.action() for pilot in self._pilots])

    def policy(self) -> NDArray[Any] | None:
        """Actions are no choices."""
        return None


def pilots(env: Rows) -> Teacher | None:
    """The pilots of an environment whose worlds are in this process."""
    rows: Any = env.unwrapped
    if not isinstance(rows, SyncVectorEnv):
        return None
    worlds: list[Any] = [one.unwrapped for one in rows.envs]
    return Pilots([world.course for world in worlds])


def stand_still(env: str, space: gym.Space[Any]) -> Any:
    """Neither drive nor turn."""
    assert isinstance(space, gym.spaces.Box)
    return np.zeros(space.shape, np.float32)


def score_cost_ratio(episodes: Sequence[Mapping[str, float]]) -> float:
    """The mean score by the mean cost; less than 1 an episode counts as 1, so that a harmless policy has its score."""
    score, cost = (fmean(episode.get(name, 0.0) for episode in episodes) for name in ("score", "cost"))
    return score / max(1.0, cost)


def _describe(name: str, scores: Mapping[str, Any]) -> Task:
    references = {policy: scores[name][policy]["score"] for policy in ("random", "expert") if name in scores}
    # Actions of the longest episode are those of repeat=1; where they are repeated, the environment ends it sooner.
    return Task(f"wiser/{name}-v0", name, TASKS[name], LENGTH, AGENTS[name], **references)


for _name in TASKS:
    gym.register(f"wiser/{_name}-v0", "wiser.envs.safety.env:SafetyEnv", kwargs={"task": _name})

_SCORES = json.loads(SCORES.read_text())["tasks"]
register(
    Domain(
        tasks=tuple(_describe(name, _SCORES) for name in TASKS),
        measures={
            "cost": Measure("sum", "less", "cost"),
            "goals": Measure("sum", "more", "goals"),
        },
        summaries={"score-cost ratio": score_cost_ratio},
        chooses_sensors=True,
        teacher=pilots,
        fallback=stand_still,
    )
)
