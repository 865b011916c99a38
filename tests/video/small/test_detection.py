"""How often a broken picture scores higher, against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

pytest.importorskip("diffusers")
from wiser.video.small.detection import exceeds


def test_the_area_is_that_of_scikit_learn_with_ties_too():
    rng = np.random.default_rng(0)
    sound, broken = rng.integers(0, 10, 40).astype(float), rng.integers(2, 12, 25).astype(float)
    truth = [0] * 40 + [1] * 25
    assert exceeds(broken, sound) == pytest.approx(roc_auc_score(truth, np.concatenate((sound, broken))))
    assert exceeds(np.array([2.0]), np.array([1.0])) == 1.0
