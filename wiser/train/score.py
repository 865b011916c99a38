"""How well a policy does: whole episodes on seeds that training never sees."""

from __future__ import annotations

from functools import partial

import numpy as np

from wiser import seeds
from wiser.envs.domain import domain_of, floor_of
from wiser.guard import Guard
from wiser.rollout import Result, Trial, complete, waves
from wiser.train.config import TrainConfig
from wiser.worldmodel.protocol import WorldModel


def evaluate(
    config: TrainConfig, model: WorldModel, episodes: int, first_seed: int = seeds.HELD_OUT.start
) -> dict[str, float]:
    """Drive `episodes` episodes, one per seed, acting as the environment's domain has it.

    Returned are means over episodes, the domain's summaries of them, and what a random policy scores where it is known.
    """
    trial = Trial(config.env, episodes, first_seed, options=config.env_options, processes=config.processes)
    domain = domain_of(config.env)
    unguarded = partial(Guard, model, "none", sample_actions=domain.sample_actions)
    results: list[Result] = []
    for wave in waves(trial, model, lambda env, rows, seed: unguarded(rows=rows, seed=seed)):
        for _ in wave.moments:
            pass
        results += map(wave.book.result, range(wave.episodes))
    scores, floor = [result.score for result in results], floor_of(config.env)
    measures = complete([result.measures for result in results])
    judged = [{"score": score, **own} for score, own in zip(scores, measures, strict=True)]
    return {
        "score": float(np.mean(scores)),
        "score_std": float(np.std(scores)),
        "length": float(np.mean([result.length for result in results])),
        **{name: float(np.mean([own[name] for own in measures])) for name in measures[0]},
        **{name: summary(judged) for name, summary in domain.summaries.items()},
        **({} if floor is None else {"random_score": floor}),
    }
