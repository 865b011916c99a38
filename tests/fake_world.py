"""A small world whose observations and rewards say which row, episode, step and action they belong to.

It is registered with Gymnasium in the forms training meets: a vector environment with an expert (`tests/Vector-v0`),
one with continuous actions, one with long episodes, one whose rows end at different times, one that never repeats
itself, and a single environment that Gymnasium makes a vector of and that has no expert. By options it tells a
cost and calls its sensors something else.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from wiser.envs.domain import Domain, Task, register
from wiser.worldmodel.protocol import Actions, Sensor, sensors_of

Ends = tuple[tuple[int, str], ...]
SHORT: Ends = ((3, "dies"), (2, "is cut off"), (4, "is cut off"), (1, "dies"))
"""Lengths of the episodes and how they end, over and over."""
LONG: Ends = ((1000, "dies"),)
CHOICES = Discrete(4, start=1)
NUMBERS = Box(np.float32([-2.0, 0.0]), np.float32([2.0, 1.0]))
_made = itertools.count()
OPEN: set[int] = set()
"""Worlds of this process that nobody has closed yet."""


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


class World(gym.Env[dict[str, Any], Any]):
    """One row. `where` is (seed, episode, step, the action before); `glow` a picture whose brightness is the step's."""

    def __init__(
        self,
        ends: Ends = SHORT,
        continuous: bool = False,
        repeats: bool = True,
        staggered: bool = False,
        costly: bool = False,
        called: Mapping[str, str] | None = None,
    ) -> None:
        self.ends, self.continuous, self.staggered, self.costly = ends, continuous, staggered, costly
        self.number, self.called = next(_made), called or {}
        self.twist = 0 if repeats else 1 + self.number
        OPEN.add(self.number)
        self.action_space = NUMBERS if continuous else CHOICES
        size = 2 if continuous else 1
        glow, where = Box(0, 255, (16, 16, 1), np.uint8), Box(-np.inf, np.inf, (3 + size,), np.float32)
        self.observation_space = Dict(self._name({"glow": glow, "where": where}))
        self.episode, self.place, self.last = -1, 0, np.zeros(size)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self.seed, self.episode = seed, -1
        self.episode, self.place, self.last = self.episode + 1, 0, np.zeros_like(self.last)
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        self.place, self.last = self.place + 1, np.atleast_1d(action)
        length, how = self.ends[(self.episode + self.seed * self.staggered) % len(self.ends)]
        dies, cut_off = (self.place >= length and how == end for end in ("dies", "is cut off"))
        reward = reward_of(self.seed, self.episode, self.place)
        told = {"cost": cost_of(self.seed, self.episode, self.place), "reward": -1.0} if self.costly else {}
        return self._observe(), reward, dies, cut_off, {"success": cut_off, **told}

    def close(self) -> None:
        OPEN.discard(self.number)

    def expert(self) -> Any:
        return expert_of(self.seed, self.episode, self.place, self.continuous)

    def _observe(self) -> dict[str, Any]:
        where = np.float32([self.seed, self.episode, self.place, *self.last])
        glow = np.full((16, 16, 1), (20 * self.place + self.twist) % 256, np.uint8)
        return self._name({"glow": glow, "where": where})

    def _name(self, sensors: dict[str, Any]) -> dict[str, Any]:
        return {self.called.get(name, name): value for name, value in sensors.items()}


class Worlds(SyncVectorEnv):
    """Many rows with an expert; row i has the seed of the first plus i."""

    def __init__(self, num_envs: int, mode: AutoresetMode = AutoresetMode.NEXT_STEP, **options: Any) -> None:
        super().__init__([lambda: World(**options)] * num_envs, autoreset_mode=mode)


VECTOR, CONTINUOUS, SINGLE = "tests/Vector-v0", "tests/Continuous-v0", "tests/Single-v0"
LASTING, NEVER_THE_SAME, SAME_STEP = "tests/Lasting-v0", "tests/NeverTheSame-v0", "tests/SameStep-v0"
STAGGERED = "tests/Staggered-v0"
WORLDS: dict[str, dict[str, Any]] = {
    VECTOR: {},
    CONTINUOUS: {"continuous": True},
    LASTING: {"ends": LONG},
    NEVER_THE_SAME: {"repeats": False},
    STAGGERED: {"staggered": True},
    SAME_STEP: {"mode": AutoresetMode.SAME_STEP},
}


class Expert:
    """What the worlds of a batch would have one do."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds

    def actions(self) -> NDArray[Any]:
        return np.stack([world.unwrapped.expert() for world in self.worlds.envs])

    def policy(self) -> None:
        return None


register(
    Domain(
        tuple(Task(name, name, name) for name in WORLDS),
        teacher=lambda env: Expert(env.unwrapped),
    )
)
for name, kwargs in WORLDS.items():
    gym.register(name, vector_entry_point="tests.fake_world:Worlds", kwargs=kwargs)
gym.register(SINGLE, entry_point="tests.fake_world:World", disable_env_checker=True)


def described(continuous: bool = False, called: Mapping[str, str] | None = None) -> tuple[tuple[Sensor, ...], Actions]:
    """Sensors and actions as a model knows them."""
    world = World(continuous=continuous, called=called)
    world.close()
    return sensors_of(world.observation_space), Actions.from_space(world.action_space)
