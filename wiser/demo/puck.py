"""A puck on a table, seen by three cameras and a range finder: the smallest world in which sensors can disagree."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

SIZE = 32
STEPS = 60
PUSH = 0.03 * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], np.float32)  # (5 actions, 2)
TABLE, PUCK = np.array([105, 135, 125]), np.array([250, 200, 40])


class PuckWorld(VectorEnv[dict[str, Any], Any, Any]):
    """`rows` tables at once. The puck slides, bounces off the rails and can be pushed; episodes last `STEPS` steps.

    Sensors: `overhead`, `side` (mirrored, other colours), `zoom` (only the middle of the table) and `range` (distance
    to the four rails). Row i of `reset(seed=s)` depends on s + i alone.
    """

    metadata = {"autoreset_mode": AutoresetMode.DISABLED}  # noqa: RUF012 - Gymnasium's spelling

    def __init__(self, rows: int) -> None:
        self.num_envs = rows
        image = gym.spaces.Box(0, 255, (SIZE, SIZE, 3), np.uint8)
        ranges = gym.spaces.Box(0.0, 2.0, (4,), np.float32)
        self.single_observation_space = gym.spaces.Dict(overhead=image, side=image, zoom=image, range=ranges)
        self.single_action_space = gym.spaces.Discrete(len(PUSH))
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, rows)
        self.action_space = gym.vector.utils.batch_space(self.single_action_space, rows)
        self.position = np.zeros((rows, 2), np.float32)  # in [-1, 1]

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Place every puck somewhere and set it moving."""
        first = 0 if seed is None else int(seed)
        draws = np.stack([np.random.default_rng(first + row).random(3) for row in range(self.num_envs)])  # (B, 3)
        self.position = (1.4 * draws[:, :2] - 0.7).astype(np.float32)
        angle = 2 * np.pi * draws[:, 2]
        self.velocity = 0.07 * np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32)  # (B, 2)
        self.time = 0
        return self._observe(), {}

    def step(self, actions: Any) -> tuple[dict[str, Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Push, slide, bounce."""
        self.velocity = np.clip(self.velocity + PUSH[actions], -0.12, 0.12)
        self.position = self.position + self.velocity
        beyond = np.abs(self.position) > 0.85
        self.velocity = np.where(beyond, -self.velocity, self.velocity)
        self.position = np.clip(self.position, -0.85, 0.85)
        self.time += 1
        over = np.full(self.num_envs, self.time >= STEPS)
        return self._observe(), np.zeros(self.num_envs), np.zeros_like(over), over, {}

    def _observe(self) -> dict[str, Any]:
        x, y = self.position[:, 0], self.position[:, 1]
        return {
            "overhead": draw(x, y, 1.0, TABLE, PUCK),
            "side": draw(-x, y, 1.0, np.array([140, 120, 110]), np.array([20, 230, 250])),
            "zoom": draw(x, y, 0.6, np.array([120, 115, 145]), np.array([250, 20, 60])),
            "range": np.stack([1 - x, 1 + x, 1 - y, 1 + y], 1).astype(np.float32),
        }


def draw(x: NDArray[Any], y: NDArray[Any], view: float, table: NDArray[Any], puck: NDArray[Any]) -> NDArray[np.uint8]:
    """Anti-aliased discs at (x, y), seen over [-view, view]: (B, SIZE, SIZE, 3)."""
    grid = view * (2 * (np.arange(SIZE, dtype=np.float32) + 0.5) / SIZE - 1)
    distance = np.hypot(grid[None, None, :] - x[:, None, None], grid[None, :, None] - y[:, None, None])
    cover = np.clip((0.2 - distance) * SIZE / 2 / view + 0.5, 0, 1)[..., None]  # (B, SIZE, SIZE, 1)
    return (table + cover * (puck - table) + 0.5).astype(np.uint8)


def locate(overhead: NDArray[Any]) -> NDArray[Any]:
    """Where a picture (B, SIZE, SIZE, 3) in [0, 1] shows the puck: the centre of its redness, (B, 2)."""
    weight = np.clip(overhead[..., 0] - 0.5, 0, None) + 1e-9  # (B, SIZE, SIZE)
    grid = 2 * (np.arange(SIZE) + 0.5) / SIZE - 1
    total = weight.sum((1, 2))
    across, down = (weight.sum(1) * grid).sum(1) / total, (weight.sum(2) * grid).sum(1) / total
    return np.stack([across, down], 1)
