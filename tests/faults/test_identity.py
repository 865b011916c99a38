"""Intensity 0 is the identity, byte for byte, and every fault keeps shape, dtype and the input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.data import CASES, FRAMES, batch, generators
from wiser.faults import FAULTS, apply

INTENSITY = st.floats(0.001, 6.0)
SEED = st.integers(0, 2**32)


@given(case=st.sampled_from(CASES), seed=SEED)
@settings(max_examples=150)
def test_intensity_zero_changes_no_byte(case, seed):
    name, kind, dtype = case
    x = batch(kind, dtype, seed)
    out = apply(name, x, 0.0, np.random.default_rng(seed))
    assert type(out) is np.ndarray
    assert out.tobytes() == x.tobytes()
    assert out.dtype == x.dtype
    assert not np.shares_memory(out, x)


@given(case=st.sampled_from(CASES), seed=SEED, intensity=INTENSITY, preset=st.sampled_from(["default", "paper"]))
@settings(max_examples=300)
def test_shape_dtype_range_and_input_are_kept(case, seed, intensity, preset):
    name, kind, dtype = case
    x = batch(kind, dtype, seed)
    before = x.copy()
    out = apply(name, x, intensity, np.random.default_rng(seed), preset=preset)
    assert out.shape == x.shape
    assert out.dtype == x.dtype
    np.testing.assert_array_equal(x, before)
    out = np.ma.getdata(out)
    if name == "nonfinite" and dtype != "uint8":
        assert not np.isfinite(out).all()
    else:
        assert np.isfinite(out).all()
        if kind == "image":
            assert out.min() >= 0
            assert out.max() <= (255 if dtype == "uint8" else 1)


@given(case=st.sampled_from(CASES), seed=SEED, intensity=INTENSITY)
@settings(max_examples=150)
def test_same_seed_same_bytes(case, seed, intensity):
    name, kind, dtype = case
    x = batch(kind, dtype, seed)
    first, second = (apply(name, x, intensity, np.random.default_rng(seed)) for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("name", FRAMES)
def test_a_row_does_not_depend_on_its_batch(name):
    x = batch("image", "uint8", rows=6)
    intensities = np.array([0.0, 0.3, 1.0, 0.0, 2.0, 0.7])
    together = FAULTS[name](x, intensities, generators(6))
    alone = [FAULTS[name](x[i : i + 1], intensities[i], generators(6)[i])[0] for i in range(6)]
    np.testing.assert_array_equal(together, np.stack(alone))
    np.testing.assert_array_equal(together[intensities == 0], x[intensities == 0])


@pytest.mark.parametrize(("shape", "kind"), [((0, 8, 8, 3), "image"), ((3, 0), "vector"), ((2, 1, 1, 2), "image")])
def test_empty_and_tiny_batches(shape, kind):
    for name, fault in FAULTS.items():
        if kind in fault.kinds:
            assert apply(name, np.zeros(shape, np.float32), 1.0, np.random.default_rng(0)).shape == shape


def test_vectors_of_any_rank():
    cloud = np.random.default_rng(0).standard_normal((3, 5, 2))
    noisy = FAULTS["gaussian"](cloud, 0.5, np.random.default_rng(1))
    assert noisy.shape == cloud.shape
    assert (noisy != cloud).all()


def test_pictures_of_many_channels():
    stacked = np.random.default_rng(0).integers(0, 256, (2, 10, 11, 12), np.uint8)
    for name in FRAMES:
        assert apply(name, stacked, 0.7, np.random.default_rng(1)).shape == stacked.shape


def test_wrong_uses_are_named():
    rng = np.random.default_rng(0)
    vector, grey = np.zeros((2, 3)), np.zeros((2, 8, 8, 1), np.uint8)
    with pytest.raises(ValueError, match="'chrome' breaks image sensors, not a vector"):
        apply("chrome", vector, 1.0, rng)
    with pytest.raises(ValueError, match="at least two channels"):
        apply("swap", grey, 1.0, rng)
    with pytest.raises(ValueError, match="unknown fault 'fog'; there are gaussian"):
        apply("fog", vector, 1.0, rng)
    with pytest.raises(ValueError, match="unknown preset"):
        apply("salt", vector, 1.0, rng, preset="mild")
    with pytest.raises(ValueError, match="at least 0"):
        apply("salt", vector, -1.0, rng)
    with pytest.raises(ValueError, match="one per row"):
        apply("salt", vector, [1.0, 1.0, 1.0], rng)
    with pytest.raises(ValueError, match="generators"):
        apply("salt", vector, 1.0, [rng])
    with pytest.raises(TypeError, match="int64"):
        apply("salt", np.zeros((2, 3), np.int64), 1.0, rng)
