"""The scripted driver solves every task without touching anybody; a random policy does not."""

import json

import numpy as np
import pytest

from wiser.envs.domain import find_task
from wiser.envs.driving.domain import SCORES
from wiser.envs.driving.env import DrivingVectorEnv
from wiser.envs.driving.scores import run_episodes
from wiser.envs.driving.tasks import TASKS

SEEDS = list(range(1000, 1024))  # not those of the published scores


@pytest.mark.parametrize("name", TASKS)
def test_expert_arrives_and_random_does_not(name):
    expert = run_episodes(TASKS[name], "expert", SEEDS)
    assert expert["success"] >= 22 / 24
    assert expert["collision"] == 0.0
    chance = run_episodes(TASKS[name], "random", SEEDS)
    assert chance["success"] < 0.1
    assert find_task(name).normalise(expert["score"]) == pytest.approx(1.0, abs=0.05)
    assert find_task(name).normalise(chance["score"]) == pytest.approx(0.0, abs=0.2)


@pytest.mark.parametrize("name", TASKS)
def test_published_scores_keep_the_promise(name):
    entry = json.loads(SCORES.read_text())["tasks"][name]
    assert entry["expert"]["success"] >= 0.95
    assert entry["expert"]["collision"] == 0.0
    assert entry["random"]["success"] < 0.05


@pytest.mark.parametrize("name", ["RightTurn-Hard", "StopSign"])
def test_expert_speaks_continuous_actions_too(name):
    env = DrivingVectorEnv(8, name, sensors=("collision",), continuous=True)
    env.reset(seed=50)
    arrived = np.zeros(8, bool)
    for _ in range(350):
        _, _, _, _, info = env.step(env.expert_actions())
        assert not info["collision"].any()
        arrived |= info["success"]
    assert arrived.all()
