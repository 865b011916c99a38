"""How well a policy does: whole episodes on seeds that training never sees."""

from __future__ import annotations

import numpy as np

from wiser import seeds
from wiser.guard import Guard
from wiser.rollout import Result, Trial, waves
from wiser.train.config import TrainConfig
from wiser.worldmodel.protocol import WorldModel


def evaluate(
    config: TrainConfig, model: WorldModel, episodes: int, first_seed: int = seeds.HELD_OUT.start
) -> dict[str, float]:
    """Drive `episodes` episodes, one per seed, with the mode of the policy; means over episodes."""
    trial = Trial(config.env, episodes, first_seed, options=config.env_options, processes=config.processes)
    results: list[Result] = []
    for wave in waves(trial, model, lambda env, rows, seed: Guard(model, "none", rows=rows, seed=seed)):
        for _ in wave.moments:
            pass
        results += wave.book.results()[: wave.episodes]
    scores = [result.score for result in results]
    return {
        "score": float(np.mean(scores)),
        "score_std": float(np.std(scores)),
        "length": float(np.mean([result.length for result in results])),
        **{name: float(np.mean([r.measures[name] for r in results])) for name in results[0].measures},
    }
