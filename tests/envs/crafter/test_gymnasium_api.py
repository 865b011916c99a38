"""Crafter as any Gymnasium environment, and what is said where the package is not there."""

import subprocess
import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import wiser.envs
from tests.envs.crafter.worlds import lay
from wiser.envs.crafter import names
from wiser.envs.crafter.env import CrafterEnv
from wiser.envs.crafter.package import constants
from wiser.extras import install_hint

SHORT = "wiser/CrafterShort-v0"


def test_gymnasium_finds_nothing_wrong() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(SHORT, render_mode="rgb_array").unwrapped)


def test_names_are_the_package_s() -> None:
    assert list(names.ACTIONS) == constants.actions
    assert list(names.ACHIEVEMENTS) == constants.achievements
    assert constants.items["health"]["max"] == names.FULL


def test_an_episode_ends_once() -> None:
    env = CrafterEnv(length=2)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)
    env.reset(seed=0)
    assert [env.step(0)[2:4] for _ in range(2)] == [(False, False), (False, True)]
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


def test_death_is_an_end_for_good() -> None:
    env = CrafterEnv(length=100)
    env.reset(seed=0)
    lay(env, "lava", 1, 0)
    *_, terminated, truncated, info = env.step(names.ACTIONS.index("move_right"))
    assert (terminated, truncated, info["died"], info["damage"]) == (True, False, True, 9.0)


def test_both_tasks_are_the_same_game() -> None:
    frames = [gym.make(name).reset(seed=4)[0]["semantic"] for name in ("wiser/Crafter-v0", SHORT)]
    assert np.array_equal(*frames)


def test_the_picture_for_people_changes_nothing() -> None:
    seen, unseen = (gym.make(SHORT, render_mode=mode).unwrapped for mode in ("rgb_array", None))
    for env in (seen, unseen):
        env.reset(seed=1)
        env.game._step = 200  # at night pictures are noisy
    for _ in range(5):
        assert seen.render().shape == (576, 576, 3)
        one, other = seen.step(0)[0], unseen.step(0)[0]
        assert all(np.array_equal(one[name], other[name]) for name in names.SENSORS)
    assert unseen.render() is None


@pytest.mark.parametrize("length", [0, -3])
def test_an_impossible_length_is_refused(length) -> None:
    with pytest.raises(ValueError, match="at least 1 step"):
        CrafterEnv(length)


ABSENT = """
import sys
sys.modules["crafter"] = None
import wiser.envs  # it is described all the same
from wiser.envs.vector import make_rows
try:
    make_rows("wiser/CrafterShort-v0", 1)
except ValueError as error:
    print(error)
"""


def test_without_the_package_one_line_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", ABSENT], capture_output=True, text=True, check=True)
    hint = install_hint("crafter")
    assert done.stdout == f"cannot make wiser/CrafterShort-v0: Crafter needs the package crafter: {hint}\n"


def test_it_is_registered_once() -> None:
    assert wiser.envs.__name__
    assert {"wiser/Crafter-v0", SHORT} <= set(gym.registry)
