"""Any Gymnasium environment as a batch of rows, and as a stream of clean observations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

Rows = VectorEnv[Any, Any, Any]


def make_rows(env: str, rows: int, sensors: Sequence[str] = ()) -> Rows:
    """Make `rows` environments: by the id's own vector form, or stepped one after another.

    `sensors` go to an environment that can be made with some of its sensors only; empty = as it is.
    """
    options: dict[str, Any] = {"sensors": tuple(sensors)} if sensors else {}
    mode = gym.VectorizeMode.SYNC
    if gym.spec(env).vector_entry_point is not None:
        mode = gym.VectorizeMode.VECTOR_ENTRY_POINT
    made = gym.make_vec(env, rows, vectorization_mode=mode, **options)
    if made.metadata.get("autoreset_mode") != AutoresetMode.NEXT_STEP:
        raise ValueError(f"environments are stepped with autoreset NEXT_STEP, {env} has another mode")
    return made


def clean_stream(env: Rows, seed: int) -> Callable[[Any], tuple[Any, Any]]:
    """An environment as `wiser.guard.calibrate` wants it: takes actions, gives observations and episode starts.

    Without actions other episodes begin in all rows, those with the next seeds.
    """
    rows = env.num_envs
    done, upcoming = np.zeros(rows, bool), seed

    def step(actions: Any) -> tuple[Any, Any]:
        nonlocal done, upcoming
        if actions is None:
            obs, _ = env.reset(seed=upcoming)
            done, upcoming = np.zeros(rows, bool), upcoming + rows
            return obs, np.ones(rows, bool)
        obs, _, terminated, truncated, _ = env.step(actions)
        first, done = done, terminated | truncated
        return obs, first

    return step
