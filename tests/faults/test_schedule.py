"""Which sensors break when: the promised share of steps, one block, sensors drawn uniformly and kept for an episode."""

from collections import Counter
from itertools import combinations

import pytest
from scipy.stats import binomtest, chisquare

from wiser.faults import Scenario, Schedule

NAMES = ("a", "b", "c", "d")


def scenario(**changes):
    return Scenario(**{"faults": ("glare",), "sensors": ("a",), **changes})


def active_steps(plan, row=0, episode=0, steps=5000):
    schedule = Schedule(plan, NAMES, row, episode)
    return [schedule.active(step) for step in range(steps)]


@pytest.mark.parametrize("proportion", [0.5, 0.625, 0.875])
def test_bernoulli_breaks_its_share_of_steps_independently(proportion):
    steps = active_steps(scenario(proportion=proportion, onset=100))
    assert not any(steps[:100])
    after = steps[100:]
    assert binomtest(sum(after), len(after), proportion).pvalue > 1e-3
    pairs = sum(now and then for now, then in zip(after[::2], after[1::2], strict=True))
    assert binomtest(pairs, len(after) // 2, proportion**2).pvalue > 1e-3


def test_proportion_one_and_zero():
    for kind in ("bernoulli", "contiguous"):
        assert active_steps(scenario(schedule=kind, onset=7), steps=50) == [False] * 7 + [True] * 43
        assert not any(active_steps(scenario(schedule=kind, proportion=0.0, horizon=50), steps=50))


def test_contiguous_is_one_block_from_onset():
    plan = scenario(schedule="contiguous", proportion=0.25, onset=20, horizon=100)
    assert active_steps(plan, steps=200) == [False] * 20 + [True] * 20 + [False] * 160


def test_it_does_not_matter_in_which_order_one_asks():
    plan = scenario(proportion=0.5)
    forward, backward = Schedule(plan, NAMES, 3, 5), Schedule(plan, NAMES, 3, 5)
    expected = [forward.active(step) for step in range(600)]
    assert [backward.active(step) for step in reversed(range(600))] == expected[::-1]


def test_seed_row_and_episode_each_matter():
    base = active_steps(scenario(proportion=0.5), steps=200)
    assert base == active_steps(scenario(proportion=0.5), steps=200)
    assert base != active_steps(scenario(proportion=0.5, seed=1), steps=200)
    assert base != active_steps(scenario(proportion=0.5), row=1, steps=200)
    assert base != active_steps(scenario(proportion=0.5), episode=1, steps=200)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_drawn_sensors_are_uniform_over_all_subsets(count):
    plan = scenario(sensors=count)
    drawn = Counter(Schedule(plan, NAMES, row, episode).sensors for row in range(20) for episode in range(100))
    assert set(drawn) == set(combinations(NAMES, count))
    assert chisquare(list(drawn.values())).pvalue > 1e-3


def test_the_draw_does_not_depend_on_the_order_of_the_keys():
    plan = scenario(sensors=2)
    for episode in range(20):
        assert Schedule(plan, NAMES, 0, episode).sensors == Schedule(plan, NAMES[::-1], 0, episode).sensors
