"""Evaluation: whole episodes side by side, each counted to its own end and no further."""

import numpy as np
import pytest

from tests import fake_world, tiny
from wiser.train.config import TrainConfig
from wiser.train.score import evaluate


@pytest.mark.parametrize("first", [0, 1, 4])
def test_every_episode_counts_to_its_own_end(first: int) -> None:
    """Four worlds with seeds in a row, whose first episodes have 3, 2, 4 and 1 steps, beginning anywhere."""
    lengths = [[3, 2, 4, 1][seed % 4] for seed in range(first, first + 4)]
    scores = [
        sum(fake_world.reward_of(seed, 0, step) for step in range(1, length + 1))
        for seed, length in zip(range(first, first + 4), lengths, strict=True)
    ]
    model = tiny.model(*fake_world.described(), tower="patch")
    found = evaluate(TrainConfig(env=fake_world.STAGGERED), model, 4, first)
    assert found["score"] == pytest.approx(np.mean(scores))
    assert found["score_std"] == pytest.approx(np.std(scores))
    assert found["length"] == pytest.approx(2.5)
    assert found["success"] == pytest.approx(0.5), "half of those episodes end in what this world calls success"


def test_the_world_is_the_one_that_was_trained_in() -> None:
    model = tiny.model(*fake_world.described(), tower="patch")
    config = TrainConfig(env=fake_world.STAGGERED, env_options={"ends": [[5, "dies"]]})
    assert evaluate(config, model, 2)["length"] == 5
