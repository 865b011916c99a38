"""When an episode ends, and that it ends in the step in which the reason arises."""

import numpy as np

from wiser.envs.driving.drivers import project
from wiser.envs.driving.embedded import EmbeddedWorld
from wiser.envs.driving.tasks import TASKS, TIME_LIMIT

ONE, COAST, FULL = np.ones(1, bool), np.array([0.0]), np.array([2.0])


def world(name, **options):
    made = EmbeddedWorld(TASKS[name], 1, **options)
    made.reset(ONE, [0])
    return made


def test_a_collision_is_seen_in_the_same_step():
    here = world("FourLane")
    here.ego[0, 3] = 5.0
    here.traffic.present[0] = False
    here.traffic.present[0, 0] = True
    here.traffic.lane[0, 0], here.traffic.shift[0, 0] = round((here.progress.route[0, 0, 0] - 5.3) / 3.5), 0.0
    s, _, _ = project(here._line, *here.ego[0, :2])
    here.traffic.s[0, 0], here.traffic.cars[0, 0, 3], here.traffic.wish[0, 0] = s + 4.8, 0.0, 0.01
    result = here.step(COAST, COAST, ONE)
    assert result.outcome.collision[0]
    assert result.terminated[0]
    assert not result.outcome.success()[0]
    assert result.terms.collision[0] < -100.0


def test_more_than_three_metres_from_the_next_waypoint():
    here = world("StopSign")
    here.ego[0, 1] += 3.5
    result = here.step(COAST, COAST, ONE)
    assert result.outcome.off_route[0]
    assert result.terminated[0]


def test_within_three_metres_the_episode_goes_on():
    here = world("StopSign")
    here.ego[0, 1] += 2.5
    assert not here.step(COAST, COAST, ONE).terminated[0]


def test_destination_when_three_waypoints_are_left():
    here = world("RightTurn")
    count = here.progress.count[0]
    here.progress.index[0] = count - 5
    here.ego[0, :3] = here.progress.route[0, count - 4]
    result = here.step(COAST, COAST, ONE)
    assert here.progress.count[0] - here.progress.index[0] == 3
    assert result.outcome.success()[0]
    assert result.terminated[0]
    assert result.terms.destination[0] == 20.0


def test_the_time_limit_truncates():
    here = world("StopSign")
    for step in range(1, TIME_LIMIT + 1):
        result = here.step(np.array([-2.0]), COAST, ONE)
        assert not result.terminated[0]
        assert result.truncated[0] == (step == TIME_LIMIT)


def snapshot(here):
    return {"ego": here.ego.copy(), **{name: value.copy() for name, value in here.traffic._asdict().items()}}


def test_inactive_worlds_stand_still():
    here = EmbeddedWorld(TASKS["FourLane"], 2)
    here.reset(np.ones(2, bool), [0, 1])
    before = snapshot(here)
    here.step(np.full(2, 2.0), np.zeros(2), np.array([True, False]))
    after = snapshot(here)
    for name in before:
        np.testing.assert_array_equal(before[name][1], after[name][1])
    assert not np.array_equal(before["ego"][0], after["ego"][0])
