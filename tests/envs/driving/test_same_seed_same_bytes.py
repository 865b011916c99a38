"""Same seed, same bytes: single or batched, in this process or another, in this episode or the next."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from wiser.envs.driving.env import DrivingEnv, DrivingVectorEnv

STEPS = 150


def actions(seed):
    return np.random.default_rng(seed).integers(5, 15, STEPS)


def single(task, seed):
    """Everything an environment says over several episodes, as a digest per step."""
    env, told = DrivingEnv(task, size=32), []
    observation, _ = env.reset(seed=seed)
    told.append(_digest(observation, 0.0))
    over = False
    for action in actions(seed):
        if over:
            observation, _ = env.reset()
            told.append(_digest(observation, 0.0))
            over = False
            continue
        observation, reward, terminated, truncated, _ = env.step(action)
        told.append(_digest(observation, reward))
        over = terminated or truncated
    return told


def batched(task, seed, batch):
    env = DrivingVectorEnv(batch, task, size=32)
    observation, _ = env.reset(seed=seed)
    told = [[_digest(_row(observation, i), 0.0)] for i in range(batch)]
    plans = np.stack([actions(seed + i) for i in range(batch)], axis=1)
    for row in plans:
        observation, reward, *_ = env.step(row)
        for i in range(batch):
            told[i].append(_digest(_row(observation, i), reward[i]))
    return told


def _row(observation, i):
    return {name: value[i] for name, value in observation.items()}


def _digest(observation, reward):
    state = hashlib.sha256(np.float64(reward).tobytes())
    for name in sorted(observation):
        state.update(np.ascontiguousarray(observation[name]).tobytes())
    return state.hexdigest()


@pytest.mark.parametrize("task", ["FourLane", "RightTurn-Hard", "StopSign"])
def test_world_i_of_a_batch_is_the_single_world_with_seed_plus_i(task):
    together = batched(task, 7, 3)
    for i in range(3):
        assert together[i] == single(task, 7 + i)


def test_the_neighbours_do_not_matter():
    assert batched("FourLane", 3, 2)[1] == batched("FourLane", 4, 1)[0]


def test_other_seeds_are_other_scenarios():
    assert single("FourLane", 1)[0] != single("FourLane", 2)[0]
    assert single("StopSign", 1)[0] != single("StopSign", 2)[0]


def test_another_process_tells_the_same_story():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_same_seed_same_bytes as t;"
        "print(t.single('FourLane', 5)[-1])"
    )
    here = __file__.rsplit("/", 1)[0]
    answer = subprocess.run([sys.executable, "-c", code, here], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == single("FourLane", 5)[-1]


def test_nothing_touches_the_global_generator():
    np.random.seed(0)  # noqa: NPY002 (the point of the test)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    single("FourLane", 0)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
