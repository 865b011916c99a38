"""One small environment for all tests: two pictures of different size, a bounded and an unbounded vector, a number."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv

LENGTH = 9
SENSORS = ("depth", "front", "imu", "speed")


class FakeEnv(gym.Env[dict[str, Any], int]):
    """Random frames that depend on seed, episode and step, never on the action; ends after `length` steps."""

    observation_space = Dict(
        {
            "front": Box(0, 255, (16, 20, 3), np.uint8),
            "depth": Box(0.0, 1.0, (8, 12, 2), np.float32),
            "speed": Box(np.float32([-1, 0]), np.float32([1, 100]), dtype=np.float32),
            "imu": Box(-np.inf, np.inf, (6,), np.float64),
            "gear": Discrete(6),
        }
    )
    action_space = Discrete(2)

    def __init__(self, length: int = LENGTH) -> None:
        self._length = length
        self.last: dict[str, Any] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._step = 0
        return self._observe(), {}

    def step(self, action: int) -> Any:
        self._step += 1
        return self._observe(), 1.0, self._step >= self._length, False, {"step": self._step}

    def _observe(self) -> dict[str, Any]:
        draw = self.np_random
        self.last = {
            "front": draw.integers(0, 256, (16, 20, 3), np.uint8),
            "depth": draw.random((8, 12, 2), np.float32),
            "speed": draw.uniform([-1, 0], [1, 100]).astype(np.float32),
            "imu": draw.standard_normal(6),
            "gear": int(draw.integers(6)),
        }
        return self.last


def fake_vector(rows: int, mode: AutoresetMode = AutoresetMode.NEXT_STEP, length: int = LENGTH) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: FakeEnv(length)] * rows, autoreset_mode=mode, copy=False)


gym.register("WiserFake-v0", entry_point="tests.faults.fake_env:FakeEnv", disable_env_checker=True)
