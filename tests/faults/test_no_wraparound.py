"""Nothing wraps around in uint8: white stays white when light is added, black stays black when it is taken away."""

import numpy as np
import pytest
from scipy.stats import norm

from tests.faults.data import picture
from wiser.faults import PAPER, PAPER_MULTI, Severity, Signal, gaussian, glare, jitter, swap


def clipped_normal(pixel, mean, std):
    """Mean and variance of a normal variable around `pixel`, rounded and clipped to 0..255."""
    levels = np.arange(256)
    edges = np.concatenate(([-np.inf], levels[:-1] + 0.5, [np.inf]))
    mass = np.diff(norm.cdf(edges, pixel + mean, std))
    average = mass @ levels
    return average, mass @ (levels - average) ** 2


@pytest.mark.parametrize("severity", [PAPER, PAPER_MULTI, Severity()], ids=["paper", "paper-multi", "default"])
@pytest.mark.parametrize("intensity", [0.625, 1.0, 5.0])
@pytest.mark.parametrize("pixel", [0, 20, 128, 255])
def test_gaussian_has_the_moments_of_the_clipped_normal(severity, intensity, pixel):
    x = np.full((8, 64, 64, 3), pixel, np.uint8)
    out = gaussian(x, intensity, np.random.default_rng(pixel), severity=severity).astype(float)
    mean, var = clipped_normal(pixel, 255 * severity.gaussian_mean * intensity, 255 * severity.gaussian_std * intensity)
    tolerance = 5 * np.sqrt(var / out.size)
    assert abs(out.mean() - mean) < tolerance + 1e-3
    assert out.var() == pytest.approx(var, rel=0.03, abs=0.05)


def test_gaussian_on_floats_agrees_with_bytes():
    x = np.full((8, 64, 64, 3), 100, np.uint8)
    as_bytes = gaussian(x, 1.0, np.random.default_rng(0)) / 255
    as_floats = gaussian((x / 255).astype(np.float32), 1.0, np.random.default_rng(1))
    for fraction in (0.01, 0.25, 0.5, 0.75, 0.99):
        assert np.quantile(as_bytes, fraction) == pytest.approx(np.quantile(as_floats, fraction), abs=0.01)


def test_only_brighter_or_only_darker():
    ramp = np.broadcast_to(np.arange(256, dtype=np.uint8)[None, None, :, None], (50, 4, 256, 3))
    rng = np.random.default_rng(0)
    assert (glare(ramp, 0.4, rng) >= ramp).all()
    brighter = Severity(jitter_contrast=1.0, jitter_brightness=0.9)
    out = jitter(ramp, 1.0, rng, severity=brighter).astype(int) - ramp
    assert np.all((out >= 0).all(axis=(1, 2, 3)) | (out <= 0).all(axis=(1, 2, 3)))


@pytest.mark.parametrize("intensity", [0.1, 0.5, 1.0, 5.0])
def test_jitter_keeps_the_order_of_the_pixels(intensity):
    ramp = np.broadcast_to(np.arange(256, dtype=np.uint8)[None, None, :, None], (100, 2, 256, 3))
    assert (np.diff(jitter(ramp, intensity, np.random.default_rng(1)).astype(int), axis=2) >= 0).all()


@pytest.mark.parametrize("intensity", [1.0, 5.0])
@pytest.mark.parametrize("severity", [Severity(), PAPER])
def test_jitter_is_not_glare(intensity, severity):
    x = np.repeat(picture()[None], 300, 0)
    out = jitter(x, intensity, np.random.default_rng(2), severity=severity)
    structure = [np.corrcoef(frame.ravel(), x[0].ravel())[0, 1] for frame in out]
    assert min(structure) > 0.6
    assert np.mean(structure) > 0.95
    change = out.mean(axis=(1, 2, 3)) - x[0].mean()
    assert 0.4 < np.mean(change > 0) < 0.6  # darker as often as brighter
    spread = out.std(axis=(1, 2, 3)) / x[0].std()
    assert 0.3 < np.mean(spread > 1) < 0.6  # more contrast about as often as less, but for clipping


@pytest.mark.parametrize("intensity", [0.25, 0.625, 1.0, 2.0])
def test_paper_glare_is_the_published_level_over_a_fading_picture(intensity):
    x = picture()[None]
    out = glare(x, intensity, np.random.default_rng(0), severity=PAPER)
    expected = np.clip(200 * intensity, 0, 255) + max(0.0, 1 - intensity) * x
    assert np.abs(out - expected).max() <= 0.5 + 1e-3


def test_a_narrow_range_is_kept():
    x = np.full((1, 8, 8, 3), 90, np.uint8)
    out = glare(x, 1.0, np.random.default_rng(0), signal=Signal("image", 10.0, 100.0))
    assert (out == 100).all()


def test_swap_at_one_is_a_permutation_that_moves_every_channel():
    x = np.broadcast_to(np.array([10, 100, 200], np.uint8), (200, 2, 2, 3))
    out = swap(x, 1.0, np.random.default_rng(0))[:, 0, 0]
    assert (np.sort(out, axis=1) == [10, 100, 200]).all()
    assert (out != [10, 100, 200]).all()
    assert {tuple(row) for row in out.tolist()} == {(100, 200, 10), (200, 10, 100)}
