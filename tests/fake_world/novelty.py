"""A novelty of the fake world's own: dusk falls, and `glow` is darker than it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.vector import VectorWrapper

from wiser.envs.domain import Rows

DARKER = "glow"


@dataclass(frozen=True)
class Dusk:
    """Takes `intensity` of the light away, from step `onset` of the first episode on."""

    intensity: float
    proportion: float
    onset: int
    seed: int
    name = "dusk"

    def apply(self, env: Rows, row: int) -> Rows:
        return Darkened(env, self)


class Darkened(VectorWrapper[Any, Any, Any, Any, Any]):
    """Worlds at dusk."""

    sensor_names = (DARKER,)

    def __init__(self, env: Rows, dusk: Dusk) -> None:
        super().__init__(env)
        self.dusk, self.time = dusk, 0

    def reset(self, **how: Any) -> Any:
        self.time = 0
        return self._darken(*self.env.reset(**how))

    def step(self, actions: Any) -> Any:
        self.time += 1
        obs, *paid, info = self.env.step(actions)
        obs, info = self._darken(obs, info)
        return obs, *paid, info

    def _darken(self, obs: dict[str, Any], info: dict[str, Any]) -> Any:
        taken = self.dusk.intensity if self.time >= self.dusk.onset else 0.0
        light = (obs[DARKER] * (1.0 - taken)).astype(np.uint8)
        return {**obs, DARKER: light}, {**info, "fault_intensity": np.full((self.num_envs, 1), taken, np.float32)}
