"""One row of the fake world, and many of them side by side."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from tests.fake_world.sensors import PLAIN, SENSES

Ends = Sequence[tuple[int, str]]
SHORT: Ends = ((3, "dies"), (2, "is cut off"), (4, "is cut off"), (1, "dies"))
"""Lengths of the episodes and how they end, over and over: to be cut off is success, unless time `runs out`."""
LONG: Ends = ((1000, "dies"),)
CHOICES = Discrete(4, start=1)
NUMBERS = Box(np.float32([-2.0, 0.0]), np.float32([2.0, 1.0]))
OPEN: set[int] = set()
"""Worlds of this process that nobody has closed yet."""
_made = itertools.count()


def reward_of(seed: int, episode: int, step: int) -> float:
    """What arriving there pays."""
    return 100.0 * seed + 10.0 * episode + step


def cost_of(seed: int, episode: int, step: int) -> float:
    """What arriving there costs."""
    return float((seed + episode + step) % 3)


def expert_of(seed: int, episode: int, step: int, continuous: bool) -> Any:
    """What the expert does there."""
    if continuous:
        phase = 0.1 * (step + 1) + 0.03 * episode + 0.007 * seed
        return np.float32([2.0 * np.sin(phase), phase % 1.0])
    return 1 + (seed + 2 * episode + step) % 4


class World(gym.Env[Any, Any]):
    """A world whose observations and rewards say which row, episode, step and action they belong to.

    sensors: names from `SENSES`; `called` gives them other names, and `boxed` makes the first the whole observation.
    ends: how long episodes are and how they end; `staggered` lets rows end at different times.
    continuous: whether actions are two numbers instead of one of four choices.
    repeats: whether a second world with the same seed is the same.
    costly: whether `info` tells a cost.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012
    seed, episode, place = 0, -1, 0

    def __init__(
        self,
        sensors: Sequence[str] = PLAIN,
        ends: Ends = SHORT,
        continuous: bool = False,
        repeats: bool = True,
        staggered: bool = False,
        costly: bool = False,
        boxed: bool = False,
        called: Mapping[str, str] | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.sensors, self.ends, self.continuous, self.staggered = sensors, ends, continuous, staggered
        self.costly, self.boxed, self.called, self.render_mode = costly, boxed, called or {}, render_mode
        self.number = next(_made)
        self.twist = 0 if repeats else 1 + self.number
        OPEN.add(self.number)
        self.action_space = NUMBERS if continuous else CHOICES
        self.action: NDArray[Any] = np.zeros(2 if continuous else 1)
        spaces = self._name({name: SENSES[name].space(self) for name in sensors})
        self.observation_space = next(iter(spaces.values())) if boxed else Dict(spaces)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self.seed, self.episode = seed, -1
        self.episode, self.place, self.action = self.episode + 1, 0, np.zeros_like(self.action)
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        self.place, self.action = self.place + 1, np.atleast_1d(action)
        length, how = self.ends[(self.episode + self.seed * self.staggered) % len(self.ends)]
        over = self.place >= length
        reward = reward_of(self.seed, self.episode, self.place)
        told = {"cost": cost_of(self.seed, self.episode, self.place), "reward": -1.0} if self.costly else {}
        success = over and how == "is cut off"
        return self._observe(), reward, over and how == "dies", over and how != "dies", {"success": success, **told}

    def render(self) -> Any:
        """The episode's own pattern, which wanders: 160 by 256 pixels."""
        return SENSES["camera"].read(self).repeat(10, 0).repeat(16, 1)

    def close(self) -> None:
        OPEN.discard(self.number)

    def expert(self) -> Any:
        return expert_of(self.seed, self.episode, self.place, self.continuous)

    def _observe(self) -> Any:
        self.last = self._name({name: SENSES[name].read(self) for name in self.sensors})
        return next(iter(self.last.values())) if self.boxed else self.last

    def _name(self, sensors: dict[str, Any]) -> dict[str, Any]:
        return {self.called.get(name, name): value for name, value in sensors.items()}


class Worlds(SyncVectorEnv):
    """Many rows; row i has the seed of the first plus i."""

    def __init__(
        self, num_envs: int, mode: AutoresetMode = AutoresetMode.NEXT_STEP, copy: bool = True, **options: Any
    ) -> None:
        super().__init__([lambda: World(**options)] * num_envs, autoreset_mode=mode, copy=copy)
