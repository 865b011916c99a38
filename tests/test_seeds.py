"""Every use of random numbers has its own: ranges of seeds do not overlap, streams of one seed are independent."""

from itertools import combinations

import numpy as np
import pytest

from wiser import seeds
from wiser.guard.draws import RowDraws

RANGES = {name: value for name, value in vars(seeds).items() if isinstance(value, range)}


@pytest.mark.parametrize(("one", "other"), list(combinations(RANGES, 2)))
def test_no_episode_serves_two_purposes(one: str, other: str) -> None:
    assert not set(RANGES[one]) & set(RANGES[other])


def test_some_seeds_stay_free_for_others_to_check_with() -> None:
    assert range(1_100_000, 2_000_000) == seeds.INDEPENDENT


def test_a_guard_does_not_draw_the_numbers_of_its_environment() -> None:
    """Gymnasium gives row i of a vector environment `seed + i`, and so does the guard: the streams must differ."""
    drawn = RowDraws(7, 3).uniform(4)
    environment = np.stack([np.random.default_rng(7 + row).random(4) for row in range(3)])
    assert not np.isin(drawn, environment).any()
    assert np.array_equal(RowDraws(8, 2).uniform(4), drawn[1:]), "row i is the first row of a guard with `seed + i`"


def test_streams_differ_by_purpose_and_part() -> None:
    first = {
        key: seeds.generator(*key).random()
        for key in [("a", 0), ("b", 0), ("a", 1), ("a", 0, 0), ("a", 0, 1), ("a", 0, 0, 0)]
    }
    assert len(set(first.values())) == len(first)
