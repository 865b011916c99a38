"""The stop sign: three seconds within two metres of the stop point, or the episode ends with a penalty."""

import numpy as np
import pytest

from wiser.envs.driving.embedded import EmbeddedWorld
from wiser.envs.driving.tasks import STOP_STEPS, TASKS, hold_at_stop

ONE, ZERO = np.ones(1, bool), np.zeros(1)


def approach(held):
    """An ego that has waited for some steps, four metres before the end of the circle, driving on."""
    world = EmbeddedWorld(TASKS["StopSign"], 1)
    world.reset(ONE, [0])
    world.progress.held[0] = held
    world.progress.index[0] = world.progress.route_stop[0]
    world.ego[0, :3] = world.progress.route[0, world.progress.route_stop[0]]
    world.ego[0, 3] = 4.0
    for _ in range(12):
        result = world.step(ZERO, ZERO, ONE)
        if result.terminated[0]:
            break
    return result


@pytest.mark.parametrize("held", [0, 10, 24])
def test_leaving_early_ends_the_episode(held):
    result = approach(held)
    assert result.outcome.stop_violation[0]
    assert result.terms.stop[0] == -5.0


@pytest.mark.parametrize("held", [30, 60])
def test_leaving_after_three_seconds_is_fine(held):
    assert not approach(held).terminated[0]


def test_one_tick_per_step():
    held = np.array([0])
    point, here = TASKS["StopSign"].stop_point, np.array([TASKS["StopSign"].stop_point])
    for step in range(1, STOP_STEPS + 1):
        held, violated = hold_at_stop(point, np.array([13]), held, np.array([13]), here)
        assert held[0] == step
        assert not violated[0]


def test_outside_the_circle_nothing_ticks():
    far = np.array([[186.0, -170.6]])
    held, violated = hold_at_stop(TASKS["StopSign"].stop_point, np.array([13]), np.array([5]), np.array([8]), far)
    assert held[0] == 5
    assert not violated[0]


def test_the_sign_is_red_until_the_stop_is_served():
    world = EmbeddedWorld(TASKS["StopSign"], 1)
    world.reset(ONE, [0])
    assert world.scene().owed.tolist() == [[True]]
    world.progress.held[0] = STOP_STEPS
    assert world.scene().owed.tolist() == [[False]]
