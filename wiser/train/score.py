"""How well a policy does: whole episodes on seeds that training never sees."""

from __future__ import annotations

import numpy as np

from wiser import seeds
from wiser.guard import Guard
from wiser.train.collect import make_env
from wiser.train.config import TrainConfig
from wiser.worldmodel.dreamer import DreamerV3


def evaluate(
    config: TrainConfig, model: DreamerV3, episodes: int, first_seed: int = seeds.HELD_OUT.start
) -> dict[str, float]:
    """Run `episodes` episodes side by side, one per seed, with the mode of the policy; means over episodes."""
    env, guard = make_env(config, episodes), Guard(model, "none", rows=episodes)
    obs, _ = env.reset(seed=first_seed)
    running, score, length = np.ones(episodes, bool), np.zeros(episodes), np.zeros(episodes)
    success = np.zeros(episodes)
    while running.any():
        action, _ = guard.act(obs)
        obs, reward, terminated, truncated, info = env.step(action)
        score += np.where(running, reward, 0.0)
        length += running
        success += np.where(running, np.asarray(info.get("success", np.zeros(episodes)), float), 0.0)
        running &= ~(terminated | truncated)
    env.close()
    return {"score": float(score.mean()), "score_std": float(score.std()), "length": float(length.mean()),
            "success": float(success.mean())}  # fmt: skip
