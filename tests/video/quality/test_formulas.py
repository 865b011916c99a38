"""The formulas, against loops and by hand."""

import numpy as np
import pytest
import torch

from tests.video.quality import plain
from wiser.video.quality import formulas

RNG = np.random.default_rng(1)


@pytest.mark.parametrize("length", [2, 3, 9])
def test_features_are_compared_as_in_loops(length: int) -> None:
    features = RNG.normal(0.3, 1.0, (length, 5))  # some cosines are negative
    reference = RNG.normal(0.3, 1.0, 5)
    assert formulas.consistency(torch.tensor(features)) == pytest.approx(plain.consistency(features))
    found = formulas.faithfulness(torch.tensor(reference)[None], torch.tensor(features))
    assert found == pytest.approx(plain.faithfulness(reference, features))


def test_features_are_compared_as_by_hand() -> None:
    east, north, west = [2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]
    features = torch.tensor([east, east, north, west])
    # previous: 1, 0, 0; first: 1, 0, and -1, which counts as 0
    assert formulas.consistency(features) == pytest.approx(1 / 3)
    # nearest 1, mean of steps 1/3, worst 0
    assert formulas.faithfulness(torch.tensor([west]), features) == pytest.approx(0.4 + 0.1)


def test_a_still_video_is_perfect_where_nothing_is_asked_of_it() -> None:
    features = torch.ones(4, 3)
    assert formulas.consistency(features) == pytest.approx(1.0)
    assert formulas.faithfulness(features[:1], features) == pytest.approx(1.0)


def test_differences_and_ratings_are_scaled() -> None:
    truth = torch.zeros(1, 3, 2, 2)
    assert formulas.smoothness(truth, truth + 51.0) == pytest.approx(0.8)
    assert formulas.mean_of_ten(torch.tensor([4.0, 6.0])) == pytest.approx(0.5)
    assert formulas.mean_of_hundred(torch.tensor([40.0, 80.0])) == pytest.approx(0.6)


def test_a_prompt_may_be_contradicted() -> None:
    assert formulas.agreement(torch.tensor([3.0, 0.0]), torch.tensor([-3.0, 4.0])) == pytest.approx(-0.6)
