"""Damage, the mean absolute change, grows with intensity, and the same picture in another size is damaged alike."""

import numpy as np
import pytest

from tests.faults.data import FRAMES, STREAMS, batch, picture
from wiser.faults import APPLIES, PRESETS, Signal, apply

LADDER = (0.0, 0.125, 0.25, 0.5, 1.0)


def damage(x, name, intensity, preset="default", seed=0):
    out = apply(name, x, intensity, np.random.default_rng(seed), preset=preset)
    if name == "nonfinite":
        return np.mean(out != x)
    return np.abs(np.ma.filled(out, 0).astype(float) - x).mean()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", FRAMES)
def test_damage_of_a_picture_grows(name, preset):
    x = np.repeat(picture()[None], 60, 0)
    rungs = [damage(x, name, intensity, preset) for intensity in LADDER]
    assert rungs[0] == 0
    assert np.all(np.diff(rungs) > 0), rungs


@pytest.mark.parametrize("name", [name for name in APPLIES["vector"] if name not in STREAMS])
def test_damage_of_a_vector_grows(name):
    x = batch("vector", "float64", rows=2000)
    rungs = [damage(x, name, intensity) for intensity in LADDER]
    assert np.all(np.diff(rungs) > 0), rungs


@pytest.mark.parametrize("kind", ["image", "vector"])
@pytest.mark.parametrize("name", STREAMS)
def test_damage_of_a_stream_grows(name, kind):
    # A smooth walk: the longer ago, the more different.
    steps = np.random.default_rng(0).normal(0, 1, (300, 4, 4, 2) if kind == "image" else (300, 5))
    x = np.clip(np.cumsum(steps, 0) / 60 + 0.5, 0, 1)
    rungs = [np.mean([damage(x, name, intensity, seed=seed) for seed in range(20)]) for intensity in LADDER]
    assert rungs[0] == 0
    assert np.all(np.diff(rungs) > 0), rungs


@pytest.mark.parametrize(("name", "preset"), [("gaussian", "paper"), ("occlusion", "paper"), ("gaussian", "default")])
def test_beyond_one_it_goes_on_until_it_saturates(name, preset):
    x = np.repeat(picture()[None], 60, 0)
    rungs = [damage(x, name, intensity, preset) for intensity in (1, 2, 3, 4, 5)]
    assert np.all(np.diff(rungs) >= 0), rungs
    assert rungs[1] > 1.3 * rungs[0]
    assert not (name == "occlusion" and apply(name, x, 5.0, np.random.default_rng(0), preset=preset).any())


@pytest.mark.parametrize("name", [name for name in FRAMES if name != "nonfinite"])
def test_sizes_scale_with_the_picture(name):
    small = np.repeat(picture(64)[None], 200, 0)
    large = np.repeat(np.kron(picture(64), np.ones((2, 2, 1), np.uint8))[None], 200, 0)
    assert damage(large, name, 0.5) == pytest.approx(damage(small, name, 0.5), rel=0.15)


def test_noise_scales_with_the_range_of_the_sensor():
    x = np.full((4000, 2), (0.0, 50.0))
    signal = Signal("vector", np.array([-1.0, 0.0]), np.array([1.0, 100.0]))
    noise = apply("gaussian", x, 0.1, np.random.default_rng(0), signal=signal) - x
    np.testing.assert_allclose(noise.std(0), 0.1 * 0.2 * np.array([2.0, 100.0]), rtol=0.05)
