"""A road with three lanes: the fast one pays most and costs, the middle one pays a little less and is free."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

LANES = "tests/Lanes-v0"
STEPS = 20
PAYS, COSTS = (1.0, 0.9, 0.0), (1.0, 0.0, 0.0)


class Lanes(gym.Env[Any, Any]):
    """Begins in the slow lane, ends after `STEPS` steps; to the left, straight on, to the right."""

    observation_space = Dict({"lane": Box(-np.inf, np.inf, (3,), np.float32)})
    action_space = Discrete(3)
    lane = 2

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.lane, self.time = 2, 0
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        self.lane, self.time = min(2, max(0, self.lane + int(action) - 1)), self.time + 1
        return self._observe(), PAYS[self.lane], False, self.time == STEPS, {"cost": COSTS[self.lane]}

    def _observe(self) -> dict[str, Any]:
        return {"lane": np.eye(3, dtype=np.float32)[self.lane]}


gym.register(LANES, Lanes, disable_env_checker=True)
