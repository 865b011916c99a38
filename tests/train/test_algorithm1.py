"""Algorithm 1: random multi-representation dropout."""

import numpy as np
import pytest
import torch
from scipy import stats

from wiser.train.variants import dropout_masks


def draw(sensors: int, count: int = 40_000, seed: int = 0) -> torch.Tensor:
    return dropout_masks((count,), sensors, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("sensors", [1, 2, 3, 6])
def test_number_masked_is_uniform_and_never_all(sensors: int) -> None:
    masked = sensors - draw(sensors).sum(1)
    counts = np.bincount(masked.numpy(), minlength=sensors + 1)
    assert counts[sensors] == 0
    if sensors > 1:
        assert stats.chisquare(counts[:sensors]).pvalue > 1e-3


@pytest.mark.parametrize("sensors", [2, 3, 6])
def test_every_sensor_is_equally_likely(sensors: int) -> None:
    masks = draw(sensors)
    dropped = (~masks).sum(0).numpy()
    share = (sensors - 1) / 2 / sensors  # E[u] / n
    expected = share * len(masks)
    assert np.abs(dropped - expected).max() < 4.5 * np.sqrt(len(masks) * share * (1 - share))


def test_independent_over_batch_time_and_calls() -> None:
    generator = torch.Generator().manual_seed(1)
    first, second = (dropout_masks((64, 128), 4, generator).float() for _ in range(2))
    assert not torch.equal(first, second)

    def correlation(a: torch.Tensor, b: torch.Tensor) -> float:
        return abs(float(np.corrcoef(a.flatten().numpy(), b.flatten().numpy())[0, 1]))

    bound = 4.5 / np.sqrt(64 * 127)
    assert correlation(first[..., 0], second[..., 0]) < bound
    assert correlation(first[:, :-1, 0], first[:, 1:, 0]) < bound
    assert correlation(first[:-1, :, 0], first[1:, :, 0]) < bound


def test_same_seed_same_masks() -> None:
    assert torch.equal(draw(5, 100, seed=3), draw(5, 100, seed=3))
