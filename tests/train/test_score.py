"""Evaluation: whole episodes side by side, each counted to its own end and no further."""

import numpy as np
import pytest

from tests import fake_world, tiny
from wiser.commands.train import _scored
from wiser.envs import domain
from wiser.train.config import TrainConfig
from wiser.train.score import evaluate
from wiser.train.ship import card


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


@pytest.fixture
def summed(monkeypatch) -> None:
    """A domain that knows what a random policy scores, and sums episodes up."""
    summaries = {"best of both": lambda some: max(e["score"] for e in some) + sum(e["success"] for e in some)}
    tasks = (domain.Task(fake_world.STAGGERED, "staggered", "staggered", random=12.25),)
    monkeypatch.setattr(domain, "_DOMAINS", [domain.Domain(tasks, summaries=summaries), *domain._DOMAINS])


def test_summaries_of_the_domain_and_a_random_policy_stand_beside_the_score(summed) -> None:
    """Four episodes again, the best of which is that with seed 2, of 4 steps; two are successful."""
    config = TrainConfig(env=fake_world.STAGGERED, evaluate_episodes=4)
    found = evaluate(config, tiny.model(*fake_world.described(), tower="patch"), 4, 0)
    best = max(sum(100 * seed + step for step in range(1, length + 1)) for seed, length in enumerate([3, 2, 4, 1]))
    assert found["best of both"] == best + 2
    assert found["random_score"] == 12.25
    rows = card("fake/base", "wiser train", config, found, 4, 0.5).splitlines()
    assert {f"| best of both | {best + 2:.2f} |", "| score of a random policy | 12.2 |", "| success | 50% |"} <= set(
        rows
    )
    said = _scored(config, {"update": 5, **found})
    assert f"(a random policy 12.2), best of both {best + 2:.2f}, 4 held-out episodes" in said


def test_where_nobody_knows_nothing_is_said() -> None:
    config = TrainConfig(env=fake_world.STAGGERED, evaluate_episodes=2)
    found = evaluate(config, tiny.model(*fake_world.described(), tower="patch"), 2, 0)
    assert set(found) == {"score", "score_std", "length", "success"}
    assert "| score of a random policy | not known |" in card("fake/base", "wiser train", config, found, 2, 0.5)
    assert _scored(config, {"update": 5, **found}).endswith(f"± {found['score_std']:.1f}, 2 held-out episodes")
