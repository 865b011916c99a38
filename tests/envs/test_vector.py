"""Environments in processes of their own: the same episodes, all of them closed, and a clear error when one fails."""

import multiprocessing
import os
from contextlib import closing

import gymnasium as gym
import pytest

from tests import fake_world, tiny
from wiser.envs.vector import make_rows
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.treatments import TREATMENTS
from wiser.faults import Scenario
from wiser.rollout import Trial

BROKEN = Scenario(faults=("gaussian",), sensors=("glow",), intensity=0.5, onset=1, seed=3)


class Failing(fake_world.World):
    """One that comes to grief in its second step, as an error or with its whole process; only where the seed is odd."""

    def step(self, action):
        if self.place == 1 and self.seed % 2:
            if self.costly:
                os._exit(3)
            raise ZeroDivisionError("wheels")
        return super().step(action)


gym.register("tests/Failing-v0", Failing, disable_env_checker=True)


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    assert multiprocessing.active_children() == []


@pytest.fixture(scope="module")
def model():
    return tiny.model(*fake_world.described(), tower="patch")


def test_episodes_are_the_same(model) -> None:
    here, apart = (
        run_episodes(model, TREATMENTS["random"], Trial(fake_world.SINGLE, 3, 5, BROKEN, processes=processes))
        for processes in (False, True)
    )
    assert here == apart


def test_processes_are_asked_for_and_end(model) -> None:
    env = make_rows(fake_world.SINGLE, 2, processes=True)
    assert len(multiprocessing.active_children()) == 2
    assert env.reset(seed=4)[0]["where"][:, 0].tolist() == [4, 5]
    env.close()


def step_twice(env) -> None:
    env.reset(seed=0)
    for _ in range(2):
        env.step([1, 1, 1])


@pytest.mark.filterwarnings("ignore:.*ERROR")  # Gymnasium tells where it happened
@pytest.mark.parametrize(("costly", "why"), [(False, "ZeroDivisionError: wheels"), (True, "its process died")])
def test_a_crash_in_one_of_them_is_an_error_that_says_so(model, costly, why) -> None:
    said = f"tests/Failing-v0 failed in a process of its own: {why}"
    trial = Trial("tests/Failing-v0", 3, 0, options={"costly": costly}, processes=True)
    with pytest.raises(RuntimeError, match=said):
        run_episodes(model, TREATMENTS["none"], trial)
    with pytest.raises(RuntimeError, match=said), closing(trial.make(3, 0, ())) as env:
        step_twice(env)


def test_an_agent_s_sensors_must_be_there() -> None:
    with pytest.raises(ValueError, match="no sensor called sonar; there are glow, where"):
        make_rows(fake_world.SINGLE, 1, ("glow", "sonar"))
