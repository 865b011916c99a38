"""Safety Gymnasium as Gymnasium environments with three cameras."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from wiser.envs.safety.cameras import Image, Rig, birdeye, dash, front
from wiser.envs.safety.course import Course
from wiser.envs.safety.halo import halo
from wiser.envs.safety.names import REPEAT, SENSORS

Observation = dict[str, Image]
LARGE = 480
"""Pixels from side to side of the picture for people."""


class SafetyEnv(gym.Env[Any, Any]):
    """A task of the package `safety-gymnasium`: two numbers steer, reward is progress and 1 for each goal or button.

    task: the package's name for it, such as SafetyPointGoal1.
    sensors: which cameras there are, some of `birdeye`, `front` and `dash`.
    size: pixels from side to side.
    repeat: steps of the package for each action; an episode has 1,000 of them.
    quality: draw as the package's own renderer does, with smooth edges and rings of lidar, at a tenth of the speed.

    Every `info` has the `cost` of the step and how many `goals` were reached in it.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        task: str,
        sensors: Sequence[str] = SENSORS,
        size: int = 64,
        repeat: int = REPEAT,
        quality: bool = False,
        render_mode: str | None = None,
    ) -> None:
        if not sensors or not set(sensors) <= set(SENSORS):
            raise ValueError(f"sensors are some of {', '.join(SENSORS)}, got {', '.join(sensors) or 'none'}")
        self.render_mode, self.sensors, self.quality = render_mode, tuple(sensors), quality
        self.observation_space = gym.spaces.Dict(
            {name: gym.spaces.Box(0, 255, (size, size, 3), np.uint8) for name in self.sensors}
        )
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.course = Course(task, repeat)
        self._rig, self._large = Rig(size, quality), Rig(LARGE, quality=True)
        self._begun, self._over = False, True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; without a seed the next one of the current seed."""
        super().reset(seed=seed)
        if seed is None and not self._begun:
            seed = int(self.np_random.integers(2**31))
        self._begun, self._over = True, False
        self.course.begin(seed)
        return self._look(), {"cost": 0.0, "goals": 0}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Act, as often as actions are repeated."""
        if self._over:
            raise gym.error.ResetNeeded("the episode is over: call reset() first")
        reward, cost, goals, terminated, truncated = self.course.act(np.asarray(action, np.float64))
        self._over = terminated or truncated
        return self._look(), reward, terminated, truncated, {"cost": cost, "goals": goals}

    def render(self) -> Any:
        """A large picture for people: the whole map from above."""
        if self.render_mode != "rgb_array":
            return None
        return self._large.draw(self.course.task.model, self.course.task.data, [birdeye()])[0]

    def close(self) -> None:
        """Let go of the cameras."""
        self._rig.close()
        self._large.close()

    def _look(self) -> Observation:
        task = self.course.task
        ways = {"birdeye": birdeye, "front": lambda: front(task.model), "dash": lambda: dash(self.course)}
        further = halo(self.course.simulation) if self.quality else ()
        images = self._rig.draw(task.model, task.data, [ways[name]() for name in self.sensors], further)
        return dict(zip(self.sensors, images, strict=True))
