"""What a step is paid, worked by hand."""

import numpy as np
import pytest

from wiser.envs.driving.tasks import Outcome, advance_progress, reward_terms

CLEAN = {"collision": False, "off_route": False, "destination": False, "stop_violation": False}


def terms(completed=0, xy=(0.0, 0.0), velocity=(0.0, 0.0), yaw=0.0, **happened):
    outcome = Outcome(**{name: np.array([value]) for name, value in {**CLEAN, **happened}.items()})
    paid = reward_terms(
        outcome, np.array([completed]), np.array([[0.0, 0.0, yaw]]), np.array([xy]), np.array([velocity])
    )
    return {name: float(value[0]) for name, value in paid._asdict().items()} | {"total": float(paid.total()[0])}


@pytest.mark.parametrize(("completed", "paid"), [(0, 0.0), (1, 2.0), (3, 2.0)])
def test_waypoints_pay_once_per_step(completed, paid):
    assert terms(completed=completed)["waypoint"] == paid


@pytest.mark.parametrize(
    ("velocity", "paid"),
    [
        ((4.0, 0.0), 2.0),  # 0.5 * (4 - 0 - 0)
        ((0.0, 0.0), 0.0),  # 0.5 * (4 - 4)
        ((2.0, 0.0), 1.0),
        ((6.0, 0.0), 1.0),  # too fast is as bad as too slow
        ((4.0, 0.3), 1.7),  # sideways costs
        ((4.0, -0.3), 1.7),  # to either side: the repaired sign
        ((-4.0, 0.0), -2.0),  # the wrong way
    ],
)
def test_speed(velocity, paid):
    assert terms(velocity=velocity)["speed"] == pytest.approx(paid)


def test_speed_is_measured_along_the_next_waypoint():
    assert terms(velocity=(0.0, 4.0), yaw=np.pi / 2)["speed"] == pytest.approx(2.0)


@pytest.mark.parametrize(("aside", "paid"), [(0.0, 0.0), (0.5, 0.0), (0.7, -0.6), (-1.5, -3.0)])
def test_lateral_error_beyond_half_a_metre(aside, paid):
    assert terms(xy=(0.3, aside))["lateral"] == pytest.approx(paid)


def test_collision_costs_thirty_times_the_speed():
    assert terms(velocity=(3.0, 4.0), collision=True)["collision"] == pytest.approx(-150.0)
    assert terms(velocity=(3.0, 4.0))["collision"] == 0.0


def test_destination_and_stop_violation():
    assert terms(destination=True)["destination"] == 20.0
    assert terms(stop_violation=True)["stop"] == -5.0


def test_the_reward_is_the_sum():
    paid = terms(completed=1, velocity=(4.0, 0.0), xy=(0.0, 0.7), destination=True)
    assert paid["total"] == pytest.approx(2.0 + 2.0 - 0.6 + 20.0)


@pytest.mark.parametrize(
    ("x", "y", "index"),
    [(0.0, 0.0, 1), (0.79, 0.0, 2), (0.8, 0.45, 2), (0.8, 0.55, 1), (1.2, 0.0, 3), (2.4, 0.0, 4), (9.0, 0.0, 1)],
)
def test_a_waypoint_counts_within_half_a_metre(x, y, index):
    route = np.stack([np.arange(5) * 0.8, np.zeros(5), np.zeros(5)], axis=1)[None]
    assert advance_progress(route, np.array([5]), np.array([1]), np.array([[x, y]]))[0] == index
