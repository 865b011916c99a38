"""Each fault against an independent truth: what its name promises, computed the slow way."""

import numpy as np
import pytest

from tests.faults.data import picture
from wiser.faults import (
    PAPER,
    Severity,
    absent_rows,
    blackout,
    blur,
    chrome,
    drift,
    dropout,
    freeze,
    glare,
    lag,
    missing,
    nonfinite,
    occlusion,
    salt,
    stripes,
)

WHITE = np.full((100, 40, 50, 3), 255, np.uint8)


def rng(seed=0):
    return np.random.default_rng(seed)


def counted(frames=30):
    """Frames that say their own number."""
    return np.broadcast_to(np.arange(1, frames + 1, dtype=np.uint8)[:, None, None, None], (frames, 2, 3, 1)).copy()


def reflected(index, size):
    while not 0 <= index < size:
        index = -index if index < 0 else 2 * (size - 1) - index
    return index


@pytest.mark.parametrize("severity", [Severity(), PAPER])
@pytest.mark.parametrize("shape", [(16, 20, 3), (9, 5, 2)])
def test_chrome_shifts_each_channel_by_its_own_vector(shape, severity):
    x = rng().random((1, *shape))
    H, W, C = shape
    out = chrome(x, 1.0, rng(1), severity=severity)[0]
    reach = severity.chrome_base + severity.chrome_slope
    my, mx = (int(np.ceil(reach * side)) for side in (H, W))
    for channel in range(C):
        matches = [
            (dy, dx)
            for dy in range(-my, my + 1)
            for dx in range(-mx, mx + 1)
            if all(
                out[i, j, channel] == x[0, reflected(i + dy, H), reflected(j + dx, W), channel]
                for i in range(H)
                for j in range(W)
            )
        ]
        assert len(matches) == 1


@pytest.mark.parametrize("intensity", [0.25, 0.5, 1.0])
def test_occlusion_is_one_black_rectangle_of_the_promised_size(intensity):
    places = set()
    for black in (occlusion(WHITE, intensity, rng()) == 0).all(axis=-1):
        rows, cols = np.flatnonzero(black.any(1)), np.flatnonzero(black.any(0))
        assert black[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1].all()
        for count, side in ((len(rows), 40), (len(cols), 50)):
            assert np.floor(0.4 * intensity * side) <= count <= np.ceil(0.6 * intensity * side)
        places.add((rows[0], cols[0]))
    assert len(places) > 50


@pytest.mark.parametrize(("intensity", "dead"), [(0.25, 4), (0.5, 8), (1.0, 16), (3.0, 40)])
def test_stripes_kills_that_many_rows(intensity, dead):
    black = (stripes(WHITE, intensity, rng()) == 0).all(axis=(2, 3))  # (B, H)
    np.testing.assert_array_equal(black.sum(1), dead)
    if dead < 40:
        assert len(np.unique(black, axis=0)) > 50


def test_salt_hits_its_share_of_pixels_in_all_channels_half_white_half_black():
    grey = np.full((100, 40, 50, 3), 128, np.uint8)
    out = salt(grey, 0.8, rng())
    assert set(np.unique(out)) == {0, 128, 255}
    assert (out == out[..., :1]).all()
    assert np.mean(out != 128) == pytest.approx(0.2, abs=0.005)
    assert np.mean(out[out != 128] == 255) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nonfinite_puts_all_three_kinds_in_its_share_of_values(dtype):
    out = nonfinite(np.zeros((50, 40, 50, 3), dtype), 0.4, rng())
    for kind in (np.isnan(out), np.isposinf(out), np.isneginf(out)):
        assert kind.mean() == pytest.approx(0.1 / 3, rel=0.05)
    assert (~np.isfinite(nonfinite(np.zeros((500, 3), dtype), 1e-6, rng()))).any(axis=1).all()


def test_nonfinite_in_bytes_is_saturated_garbage():
    out = nonfinite(np.full((50, 40, 50, 3), 7, np.uint8), 0.4, rng())
    assert set(np.unique(out)) == {0, 7, 255}
    assert np.mean(out != 7) == pytest.approx(0.1, rel=0.05)


def test_blackout_and_glare_end_in_a_constant():
    x = np.repeat(picture()[None], 2, 0)
    assert (blackout(x, 1.0, rng()) == 0).all()
    assert (glare(x, 1.0, rng()) == 255).all()
    np.testing.assert_allclose(blackout(x, 0.25, rng()), 0.75 * x, atol=0.501)
    assert (blackout(np.ones((1, 4)), 1.0, rng()) == 0).all()
    assert (glare(np.ones((1, 4)), 1.0, rng()) == 10).all()


def test_blur_is_the_mean_of_the_neighbours():
    x = picture(50)[None].astype(np.float64) / 255
    out = blur(x, 2 / 3, rng())[0]  # radius 0.06 * 50 * 2 / 3 = 2: a box of 5 x 5
    for i, j in ((10, 10), (25, 30), (47, 2)):
        np.testing.assert_allclose(out[i, j], x[0, i - 2 : i + 3, j - 2 : j + 3].mean(axis=(0, 1)), atol=1e-6)
    assert blur(x, 0.5, rng())[0].std() > out.std()


@pytest.mark.parametrize(("intensity", "delay"), [(0.01, 1), (0.25, 5), (1.0, 20), (4.0, 20)])
def test_lag_is_the_list_delayed(intensity, delay):
    x = counted()
    delayed = [1] * delay + list(range(1, 31 - delay))
    np.testing.assert_array_equal(lag(x, intensity, rng())[:, 0, 0, 0], delayed)


def test_lag_uses_what_it_saw_before_it_broke():
    intensity = np.where(np.arange(30) >= 12, 0.25, 0.0)
    np.testing.assert_array_equal(lag(counted(), intensity, rng())[:, 0, 0, 0], [*range(1, 13), *range(8, 26)])


def test_paper_lag_draws_delays_up_to_seventy_five_once_per_break():
    x = np.arange(200.0)[:, None]
    intensity = np.r_[np.zeros(80), np.ones(120)]
    delays = np.stack([(x - lag(x, intensity, rng(seed), severity=PAPER))[80:, 0] for seed in range(300)])
    assert (delays == delays[:, :1]).all()
    assert delays.min() <= 3
    assert 73 <= delays.max() <= 75
    assert delays.mean() == pytest.approx(38, abs=5)


def test_freeze_repeats_the_frame_at_which_it_broke_and_wakes_up():
    intensity = np.r_[np.zeros(5), np.ones(10), np.zeros(5), np.ones(10)]
    expected = [*range(1, 6), *[6] * 10, *range(16, 21), *[21] * 10]
    np.testing.assert_array_equal(freeze(counted(), intensity, rng())[:, 0, 0, 0], expected)


def test_freeze_at_a_half_renews_every_second_frame():
    x = np.arange(4000.0)[:, None]
    fresh = freeze(x, 0.5, rng()) == x
    assert fresh.mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("intensity", [0.25, 1.0, 1.6])
def test_dropout_loses_its_share_in_bursts(intensity):
    lost = dropout(np.ones((60_000, 1)), intensity, rng())[:, 0] == 0
    assert lost.mean() == pytest.approx(0.6 * intensity, abs=0.03)
    bursts = np.diff(np.flatnonzero(np.diff(np.r_[0, lost.astype(int), 0])))[::2]
    expected = max(8.0, 0.6 * intensity / (1 - 0.6 * intensity))
    assert bursts.mean() == pytest.approx(expected, rel=0.1)
    assert (dropout(np.ones((50, 1)), 2.0, rng()) == 0).all()


def test_drift_grows_by_the_same_amount_each_step():
    bias = drift(np.zeros((40, 3)), 0.5, rng())
    np.testing.assert_allclose(np.abs(bias), 0.005 * np.arange(1, 41)[:, None] * np.ones(3))
    signs = np.sign(np.stack([drift(np.zeros((1, 3)), 1.0, rng(seed))[0] for seed in range(200)]))
    assert np.abs(signs.mean(0)).max() < 0.25


def test_drift_goes_on_while_nothing_shows():
    intensity = np.r_[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]
    np.testing.assert_allclose(np.abs(drift(np.zeros((6, 1)), intensity, rng())[:, 0]), [0, 0, 0.01, 0, 0, 0.04])


def test_missing_is_a_masked_row_that_tells_nothing():
    x = counted()
    out = missing(x, 0.4, rng())
    absent = absent_rows(out)
    assert 0 < absent.sum() < 30
    np.testing.assert_array_equal(out.data[~absent], x[~absent])
    assert not out.data[absent].any()
    assert absent_rows(missing(x, 1.0, rng())).all()
    assert not absent_rows(x).any()
