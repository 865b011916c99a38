"""What the rest of the house knows of Crafter. The package `crafter` is needed to play, not to read this."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import SyncVectorEnv
from numpy.typing import NDArray

from wiser.envs.crafter.names import ACHIEVEMENTS, NOVELTIES
from wiser.envs.crafter.novelty import Novelty
from wiser.envs.domain import Domain, Measure, Rows, Task, Teacher, register

SCORES = Path(__file__).with_name("scores.json")
"""Of a random policy and of the survivor; `python -m wiser.envs.crafter.scores` measures them."""
AGENTS = "crafter"
LENGTHS = {"Crafter": 10_000, "CrafterShort": 1_000}
"""Steps of the longest episode of each task: the package's own limit, and one that evaluations can wait for."""
TITLES = {"Crafter": "Crafter", "CrafterShort": "Crafter, the first 1,000 steps"}


class Survivors:
    """The scripted survivor of every row."""

    def __init__(self, games: Sequence[Any]) -> None:
        from wiser.envs.crafter.survivor import Survivor

        self._survivors = [Survivor(game) for game in games]

    def actions(self) -> NDArray[Any]:
        """What they would do now."""
        return np.array([survivor.action() for survivor in self._survivors])

    def policy(self) -> NDArray[Any] | None:
        """They are sure."""
        return None


def survivors(env: Rows) -> Teacher | None:
    """The survivors of an environment whose worlds are in this process."""
    rows: Any = env.unwrapped
    if not isinstance(rows, SyncVectorEnv):
        return None
    worlds: list[Any] = [one.unwrapped for one in rows.envs]
    return Survivors([world.game for world in worlds])


def crafter_score(episodes: Sequence[Mapping[str, float]]) -> float:
    """Geometric mean of the success rates of all achievements, in percent, each shifted by 1 so that none is 0."""
    rates = 100 * np.mean([[episode.get(name, 0.0) for name in ACHIEVEMENTS] for episode in episodes], axis=0)
    return float(np.expm1(np.mean(np.log1p(rates))))


def _describe(name: str, length: int, scores: Mapping[str, Any]) -> Task:
    references = {policy: scores[name][policy]["score"] for policy in ("random", "expert") if name in scores}
    return Task(f"wiser/{name}-v0", name, TITLES[name], length, AGENTS, **references)


for _name, _length in LENGTHS.items():
    gym.register(f"wiser/{_name}-v0", "wiser.envs.crafter.env:CrafterEnv", kwargs={"length": _length})

_SCORES = json.loads(SCORES.read_text())["tasks"]
register(
    Domain(
        tasks=tuple(_describe(name, length, _SCORES) for name, length in LENGTHS.items()),
        measures={
            **{name: Measure("any", "more", name.replace("_", " "), detail=True) for name in ACHIEVEMENTS},
            "damage": Measure("sum", "less", "damage"),
        },
        summaries={"Crafter score": crafter_score},
        endings={"died": "died"},
        sample_actions=True,  # as the paper's code; whoever walks into the same wall for ever starves there
        teacher=survivors,
        novelties={name: partial(Novelty, name) for name in NOVELTIES},
    )
)
