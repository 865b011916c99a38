"""Traffic does not hurt itself, nor an ego that drives along or simply stands there."""

import numpy as np
import pytest

from wiser.envs.driving.dynamics import boxes_touch
from wiser.envs.driving.embedded import EmbeddedWorld
from wiser.envs.driving.tasks import TASKS

BATCH = 12
ALL = np.ones(BATCH, bool)


def run(name, steps, pedal):
    """A world whose ego only uses the pedals: pedal(world) -> acceleration (B,)."""
    world = EmbeddedWorld(TASKS[name], BATCH)
    world.reset(ALL, list(range(BATCH)))
    for _ in range(steps):
        world.step(pedal(world), np.zeros(BATCH), ALL)
        yield world


@pytest.mark.parametrize("name", ["FourLane", "RightTurn-Medium", "RightTurn-Hard"])
def test_cars_never_touch_each_other(name):
    for world in run(name, 200, lambda w: np.where(w.ego[:, 3] > 4.0, -2.0, 0.0)):
        t = world.traffic
        for b in range(BATCH):
            near = np.flatnonzero(t.present[b])
            for i, n in enumerate(near):
                for m in near[i + 1 :]:
                    if np.hypot(*(t.cars[b, n, :2] - t.cars[b, m, :2])) < 6.0:
                        one, other = (*t.cars[b, n, :3], *t.size[b, n, :2]), (*t.cars[b, m, :3], *t.size[b, m, :2])
                        assert not boxes_touch(*one, *other)


def test_an_ego_standing_in_its_lane_is_not_hit():
    for world in run("FourLane", 300, lambda w: np.zeros(BATCH)):
        assert not world.collided.any()


def test_an_ego_that_brakes_now_and_then_is_not_hit_from_behind():
    clock = iter(range(1000))

    def stop_and_go(world):
        slow = next(clock) // 40 % 2
        return np.where(world.ego[:, 3] < (1.0 if slow else 4.0), 2.0, -2.0)

    for world in run("FourLane", 240, stop_and_go):
        front = world.ttc < 0.5  # running into a car ahead is the ego's own doing
        assert not (world.collided & ~front).any()
        world.ego[world.ttc < 3.0, 3] *= 0.8


@pytest.mark.parametrize(("name", "low", "high"), [("RightTurn-Medium", 8.0, 16.0), ("RightTurn-Hard", 6.0, 8.0)])
def test_the_flow_keeps_its_gaps_when_nobody_disturbs_it(name, low, high):
    world = next(iter(run(name, 1, lambda w: np.zeros(BATCH))))
    t = world.traffic
    for b in range(BATCH):
        order = np.argsort(t.s[b][t.present[b]])
        s, length = t.s[b][t.present[b]][order], t.size[b, :, 0][t.present[b]][order]
        gaps = np.diff(s) - (length[1:] + length[:-1]) / 2
        assert gaps.min() > low - 0.5
        assert gaps.max() < high + 0.5


def test_simple_right_turn_and_stop_sign_have_no_traffic():
    for name in ("RightTurn", "StopSign"):
        world = EmbeddedWorld(TASKS[name], 1)
        world.reset(np.ones(1, bool), [0])
        assert not world.traffic.present.any()


def test_every_lane_is_a_starting_lane():
    world = EmbeddedWorld(TASKS["FourLane"], 64, cars=0)
    world.reset(np.ones(64, bool), list(range(64)))
    assert len(np.unique(np.round((world.ego[:, 0] - 5.5) / 3.5))) == 4
