"""Frames that bear each other out: the sets against all subsets, the errors by hand, and what comes of it."""

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.video.worlds import Scripted, moving_blob, plain_clip
from wiser import seeds
from wiser.faults import apply
from wiser.guard import Calibration, Mode
from wiser.video.calibration import FORETOLD, calibrate, gating, usual
from wiser.video.gate import Gating
from wiser.video.plain import CopyLast, Linear
from wiser.video.predictor import unit
from wiser.video.witnesses import LEADS, foretelling, largest_agreeing, unlikeness, witnesses


@cache
def linear():
    return Linear.fit([moving_blob(40, seed) for seed in range(12)], components=12)


@cache
def calibrated():
    return calibrate(linear(), [moving_blob(40, seed) for seed in range(20, 30)], frames=20)


def judged(**changes):
    return replace(gating(linear(), calibrated(), frames=9), **changes)


@given(st.integers(1, 7), st.integers(0, 10_000))
def test_the_largest_set_is_that_of_all_subsets(frames, seed):
    apart = np.random.default_rng(seed).lognormal(-0.2, 0.5, (frames, frames))
    apart = np.maximum(apart, apart.T)
    agreeing = [
        list(found)
        for size in range(frames + 1)
        for found in combinations(range(frames), size)
        if all(apart[i, j] < 1.0 for i in found for j in found)
    ]
    found = largest_agreeing(apart)
    assert found in agreeing
    assert len(found) == max(map(len, agreeing))


def test_of_two_sets_as_large_the_likelier_is_kept():
    apart = np.array([[0.1, 0.8, 9.0, 9.0], [0.8, 0.1, 9.0, 9.0], [9.0, 9.0, 0.1, 0.4], [9.0, 9.0, 0.4, 0.1]])
    assert largest_agreeing(apart) == [2, 3]
    assert largest_agreeing(apart + 1.0) == []


def test_what_copies_foretells_as_far_as_the_frames_differ():
    frames = unit(moving_blob(5, 0))
    errors = foretelling(CopyLast(), frames, 0, 0)
    by_hand = [1e-10, *(float((frames[0] - frame).square().mean()) for frame in frames[1:])]
    np.testing.assert_allclose(errors, by_hand, rtol=1e-5)


def test_unlikeness_is_a_multiple_of_what_is_rare_on_clean_video():
    """M either way, what is foretold one way; of pairs further apart than any lead nothing is known."""
    clip, ends = moving_blob(4, 1), ((2e-3, 5e-3), (1e-3, 4e-3), (1e-3, 8e-3))
    apart = unlikeness(linear(), clip, Gating(0.0, 0.0, frames=4, condition=1, usual=ends), seed=7)
    frames = unit(clip)
    for i in range(4):
        errors = foretelling(linear(), frames[i:], i, 7)
        assert apart[i, i] == pytest.approx(max(errors[0] / 5e-3, 2e-3 / errors[0]))
        for j in range(i + 1, 4):
            lead = j - i
            expected = errors[lead] / ends[lead][1] if lead < 3 else 0.0
            assert apart[i, j] == apart[j, i] == pytest.approx(expected)


@pytest.mark.parametrize(("error", "expected"), [(1e-3, 2.0), (2e-3, 1.0), (4e-3, 0.8), (5e-3, 1.0), (2e-2, 4.0)])
def test_a_frame_is_unusual_to_either_side(error, expected):
    """Two is as far below the low end as half of it, four as far beyond the high end as four times it."""
    settings = Gating(0.0, 0.0, condition=1, usual=((2e-3, 5e-3),))
    assert unlikeness(Scripted({0.2: error}, {}), plain_clip(0.2), settings, 0)[0, 0] == pytest.approx(
        expected, rel=1e-4
    )


def test_what_is_usual_lies_between_quantiles_of_clean_errors():
    """Errors as spread as these have mean and three deviations of logarithms 29 times beyond their largest."""
    errors = np.logspace(-6, -2, 1001)
    logs = np.log(errors)
    assert np.exp(logs.mean() + 3 * logs.std()) > 0.29
    known = Calibration.of({f"{FORETOLD}/0": errors, f"{FORETOLD}/1": 2 * errors, f"{FORETOLD}/3": errors})
    found = usual(known)  # of lead 2 nothing is known, and so not of what comes after it
    assert len(found) == 2
    np.testing.assert_allclose(found[0], (10**-5.98 / 1.1, 10**-2.02 * 1.1), rtol=1e-6)
    np.testing.assert_allclose(found[1], (2 * 10**-5.98 / 1.1, 2 * 10**-2.02 * 1.1), rtol=1e-6)


def test_what_never_moves_is_usual_until_it_does():
    """All errors of a still world are the same, and so are both its quantiles."""
    still = plain_clip(*[0.4] * 9)
    settings = gating(CopyLast(), calibrate(CopyLast(), [still]), frames=9)
    clip = plain_clip(*[0.4] * 4, 0.6, *[0.4] * 4)
    modes = ["".join(mode.name[0] for mode in witnesses(each, CopyLast(), settings, 0).modes) for each in (still, clip)]
    assert modes == ["GGGGGGGGG", "GGGGPGGGG"]


def test_calibration_measures_every_lead():
    counts = [calibrated().stats(f"{FORETOLD}/{lead}").count for lead in range(1 + LEADS)]
    assert counts[0] == 200
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] > 100
    assert len(judged().usual) == 1 + LEADS


@pytest.mark.parametrize("fault", ["gaussian", "glare", "chrome", "occlusion"])
def test_three_sound_frames_of_nine_are_found_among_broken_ones(fault):
    """White frames too, which the model foretells better than any."""
    right = wrong = 0
    for seed in range(8):
        clip, rng = moving_blob(9, 60 + seed), np.random.default_rng(seed)
        broken = rng.choice(9, 6, replace=False)
        clip[broken] = apply(fault, clip[broken], 1.0, seeds.generator("test", seed))
        trusted = np.array([mode == Mode.GROUNDED for mode in witnesses(clip, linear(), judged(), seed).modes])
        right, wrong = right + trusted[np.setdiff1d(range(9), broken)].sum(), wrong + trusted[broken].sum()
    assert right >= 20  # of 24
    assert wrong <= 4  # of 48


def test_clean_frames_are_left_alone():
    clips = [moving_blob(9, 180 + seed) for seed in range(30)]
    modes = [mode for clip in clips for mode in witnesses(clip, linear(), judged(), 0).modes]
    assert np.mean([mode == Mode.GROUNDED for mode in modes]) > 0.98


def test_reasons_say_what_is_wrong():
    clip = moving_blob(9, 70)
    clip[4] = 255
    found = witnesses(clip, linear(), judged(), 0)
    assert found.modes[4] == Mode.PREDICTIVE
    assert "unlikeness" in found.verdicts[4].reasons["camera"]
    assert "not below 1" in found.verdicts[4].reasons["camera"]


def test_without_a_calibration_it_says_what_to_do():
    with pytest.raises(ValueError, match="wiser video calibrate"):
        witnesses(moving_blob(9, 0), linear(), Gating(0.1, 0.1), 0)
