"""How often a broken picture scores higher, against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

pytest.importorskip("diffusers")
from wiser.video.small.detection import EITHER_WAY, MEASURED, either_way, exceeds


def test_the_area_is_that_of_scikit_learn_with_ties_too():
    rng = np.random.default_rng(0)
    sound, broken = rng.integers(0, 10, 40).astype(float), rng.integers(2, 12, 25).astype(float)
    truth = [0] * 40 + [1] * 25
    assert exceeds(broken, sound) == pytest.approx(roc_auc_score(truth, np.concatenate((sound, broken))))
    assert exceeds(np.array([2.0]), np.array([1.0])) == 1.0


def test_what_is_unusual_either_way_is_as_far_from_the_usual_in_factors():
    usual = np.exp(np.array([[-1.0], [1.0]])) * np.ones((2, len(MEASURED)))  # the mean of logarithms is 0
    scores = np.array([[4.0] * len(MEASURED), [0.25] * len(MEASURED), [1.0] * len(MEASURED)])
    both = either_way(scores, usual)
    np.testing.assert_array_equal(both[:, : len(MEASURED)], scores)
    np.testing.assert_allclose(both[:, len(MEASURED) :], np.log([[4.0], [4.0], [1.0]]) * np.ones(len(EITHER_WAY)))
