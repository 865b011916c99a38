"""Crafter as a Gymnasium environment with six sensors, the representations."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from wiser.envs.crafter.game import HONEST, Game
from wiser.envs.crafter.looks import LOOKS
from wiser.envs.crafter.names import ACHIEVEMENTS, ACTIONS, SENSORS
from wiser.envs.crafter.novelty import Novelty
from wiser.envs.crafter.pictures import SHAPES, Image

Observation = dict[str, Image]


class CrafterEnv(gym.Env[Any, Any]):
    """The game of the package `crafter`: 17 actions, 22 achievements, a reward of 1 for each of them once.

    length: steps after which an episode is cut off; the package's own limit is 10,000.

    `novelty` is what is new, or None; it may be set at any time and shows from the next observation on. Every `info`
    has the achievements so far, the health that was lost in this step (`damage`), whether the player `died`, and
    `fault_intensity` (N,), how much a novelty affects each of `SENSORS`: its intensity where the picture differs from
    an honest one of the same world, 0 elsewhere.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, length: int = 10_000, render_mode: str | None = None) -> None:
        if length < 1:
            raise ValueError(f"an episode has at least 1 step, got length {length}")
        self.render_mode, self.length = render_mode, length
        self.observation_space = gym.spaces.Dict(
            {name: gym.spaces.Box(0, 255, SHAPES[name], np.uint8) for name in SENSORS}
        )
        self.action_space = gym.spaces.Discrete(len(ACTIONS))
        self.game = Game(length)
        self.novelty: Novelty | None = None
        self._shown: Novelty | None = None
        self._episode, self._time, self._over = 0, 0, True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a new world; without a seed the next one of the current seed."""
        super().reset(seed=seed)
        if seed is None and self._episode == 0:
            seed = int(self.np_random.integers(2**31))
        self._episode = self._episode + 1 if seed is None else 1
        self._time, self._over, self._shown = 0, False, None
        self._wear()
        return self.game.begin(seed), self._info(damage=0.0)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Act once."""
        if self._over:
            raise gym.error.ResetNeeded("the episode is over: call reset() first")
        self._time += 1
        self._wear()
        before = self.game.player.health
        observation, reward, over, _ = self.game.step(int(action))
        health = self.game.player.health
        died, self._over = health <= 0, bool(over)
        return observation, float(reward), died, self._over and not died, self._info(max(0.0, float(before - health)))

    def render(self) -> Any:
        """A large picture for people, of the world as it really is."""
        return self.game.picture() if self.render_mode == "rgb_array" else None

    def _info(self, damage: float) -> dict[str, Any]:
        affected = self.game.affected
        strength = 0.0 if self.novelty is None else self.novelty.intensity
        return {
            **{name: name in self.game.unlocked for name in ACHIEVEMENTS},
            "damage": damage,
            "died": self.game.player.health <= 0,
            "fault_intensity": np.array([strength * affected.get(name, 0.0) for name in SENSORS], np.float32),
        }

    def _wear(self) -> None:
        """Give the game the look that it has in the next observation."""
        novelty = self.novelty
        if novelty is not None and novelty is not self._shown:
            self._steps, self._lots = (novelty.dice(purpose, self._episode) for purpose in ("steps", "lots"))
            self._look = LOOKS[novelty.name](novelty.intensity)
        self._shown = novelty
        if novelty is not None and novelty.intensity > 0 and self._time >= novelty.onset and self._falls(novelty):
            self.game.put_on(self._look, self._lots)
        else:
            self.game.put_on(HONEST, self.game.dice)

    def _falls(self, novelty: Novelty) -> bool:
        """Whether this step is one of its share."""
        return bool(self._steps.random() < novelty.proportion)
