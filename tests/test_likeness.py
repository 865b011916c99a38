"""PSNR and SSIM are those of the textbook."""

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter

from wiser.likeness import signal_to_noise, structural_similarity

RNG = np.random.default_rng(0)


def plain_similarity(x: np.ndarray, y: np.ndarray) -> float:
    """One channel, with scipy's Gaussian of 11 taps; windows that leave the picture do not count."""

    def blur(values: np.ndarray) -> np.ndarray:
        return gaussian_filter(values, 1.5, truncate=3.5)[5:-5, 5:-5]

    mean_x, mean_y = blur(x), blur(y)
    var_x, var_y = blur(x * x) - mean_x**2, blur(y * y) - mean_y**2
    shared = blur(x * y) - mean_x * mean_y
    above = (2 * mean_x * mean_y + 0.01**2) * (2 * shared + 0.03**2)
    below = (mean_x**2 + mean_y**2 + 0.01**2) * (var_x + var_y + 0.03**2)
    return float((above / below).mean())


def test_the_signal_to_noise_ratio_is_that_of_the_textbook() -> None:
    clean = torch.zeros(2, 4, 4, 1)
    noisy = torch.stack([torch.full((4, 4, 1), 0.1), torch.full((4, 4, 1), 0.01)])
    assert signal_to_noise(noisy, clean).tolist() == pytest.approx([20.0, 40.0])
    assert signal_to_noise(clean, clean).tolist() == pytest.approx([100.0, 100.0])


def test_structural_similarity_is_that_of_scipys_windows() -> None:
    clean = gaussian_filter(RNG.random((2, 20, 31, 3)), (0, 2, 2, 0))
    noisy = np.clip(clean + RNG.normal(0, 0.1, clean.shape), 0, 1)
    expected = [
        np.mean([plain_similarity(clean[b, ..., c], noisy[b, ..., c]) for c in range(3)]) for b in range(len(clean))
    ]
    found = structural_similarity(torch.tensor(noisy), torch.tensor(clean))
    assert found.tolist() == pytest.approx(expected, rel=1e-9)
    assert structural_similarity(torch.tensor(clean), torch.tensor(clean)).tolist() == pytest.approx([1.0, 1.0])


def test_a_picture_without_a_window_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 11x11"):
        structural_similarity(torch.zeros(1, 10, 30, 3), torch.zeros(1, 10, 30, 3))
