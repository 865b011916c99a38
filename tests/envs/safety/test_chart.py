"""Ways around obstacles, against lengths that geometry gives."""

import math
from itertools import pairwise

import numpy as np
import pytest

from wiser.envs.safety.chart import CELL, SPAN, Chart

NOTHING = np.zeros((0, 5))
WALL = 1e4


def disc(x: float, y: float, radius: float, dear: float = WALL, ring: float = 1e-6) -> np.ndarray:
    return np.array([[x, y, radius, ring, dear]])


@pytest.mark.parametrize("goal", [(0.0, 0.0), (1.3, -0.77), (-2.1, 2.2)])
@pytest.mark.parametrize("start", [(1.9, 1.1), (-0.31, 0.52), (0.9, -2.0)])
def test_in_the_open_the_time_is_the_distance(goal, start) -> None:
    assert Chart(NOTHING, goal).time_from(start) == pytest.approx(math.dist(start, goal), rel=0.06, abs=0.02)


@pytest.mark.parametrize("aside", [0.0, 0.2, 0.45])
def test_around_a_disc_the_way_is_two_tangents_and_an_arc(aside) -> None:
    radius, start, goal = 0.6, np.array([-1.6, aside]), np.array([1.7, 0.1])
    reach = [math.acos(radius / np.linalg.norm(end)) for end in (start, goal)]
    between = math.acos(start @ goal / np.linalg.norm(start) / np.linalg.norm(goal))
    tangents = sum(math.sqrt(end @ end - radius**2) for end in (start, goal))
    expected = tangents + radius * (between - sum(reach))
    assert expected > math.dist(start, goal)
    assert Chart(disc(0, 0, radius), tuple(goal)).time_from(tuple(start)) == pytest.approx(expected, rel=0.06)


def test_dear_ground_is_crossed_where_the_detour_is_dearer() -> None:
    """Round the disc it would be 3.06 m."""
    chart = Chart(disc(0, 0, 0.3, dear=0.05), (1.5, 0.0))
    assert chart.time_from((-1.5, 0.0)) == pytest.approx(3.0 + 0.6 * 0.05, rel=0.01)
    assert abs(chart.ahead((-1.5, 0.0), 1.5)[1]) < 0.1


def test_the_way_goes_down_and_keeps_clear() -> None:
    chart = Chart(disc(0, 0, 0.5), (1.5, 0.0))
    place, times, nearest = (-1.5, 0.05), [], 9.0
    while chart.time_from(place) > 0.2:
        times.append(chart.time_from(place))
        place = chart.ahead(place, CELL)
        nearest = min(nearest, math.hypot(*place))
        assert len(times) < 80
    assert all(later < earlier for earlier, later in pairwise(times))
    assert 0.42 < nearest < 0.65


def test_where_two_ways_part_one_of_them_is_taken() -> None:
    chart = Chart(disc(0, 0, 0.5), (1.5, 0.0))
    _, y = chart.ahead((-0.62, 0.0), 0.3)
    assert abs(y) > 0.15, "differences of neighbours say: neither to the left nor to the right"


def test_a_ring_fades() -> None:
    chart = Chart(np.array([[0.0, 0.0, 0.2, 0.4, 10.0]]), (2.0, 2.0))
    found = [chart.dear((away, 0.0)) for away in (0.0, 0.16, 0.24, 0.4, 0.56, 0.72)]
    assert found[:2] == [11.0, 11.0]
    assert found[5] == 1.0
    assert all(later < earlier for earlier, later in pairwise(found[1:]))
    assert found[3] == pytest.approx(1 + 0.1 * 10 * 0.5**2, rel=0.01)


def test_where_discs_overlap_the_dearest_counts() -> None:
    both = np.concatenate([disc(0, 0, 0.4, dear=5.0), disc(0.2, 0, 0.4, dear=30.0), disc(0.1, 0, 0.4, dear=7.0)])
    assert Chart(both, (2.0, 2.0)).dear((0.08, 0.0)) == 31.0
    assert Chart(both, (2.0, 2.0)).dear((-0.32, 0.0)) == 6.0


def test_the_map_ends_and_whoever_is_beyond_is_led_back() -> None:
    chart = Chart(NOTHING, (0.0, 0.0))
    assert chart.ahead((SPAN + 1, 0.4), 0.3).tolist() == [SPAN, 0.4]
    assert chart.ahead((-SPAN - 1, -9.0), 0.3).tolist() == [-SPAN, -SPAN]
    assert chart.ahead((SPAN, 0.4), 0.3)[0] < SPAN - 0.2
    assert chart.ahead((0.1, 0.05), 0.5).tolist() == [0.0, 0.0], "near the goal the way is straight"
