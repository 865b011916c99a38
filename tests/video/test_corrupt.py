"""Broken clips: how many frames, which, and by what."""

import numpy as np
import pytest

from tests.video.worlds import moving_blob
from wiser.faults import PRESETS, apply
from wiser.video.corrupt import FAULTS, Corruption, corrupt

CLIP = moving_blob(13, 0)


@pytest.mark.parametrize("fault", [*FAULTS, "blur", "salt"])
@pytest.mark.parametrize("proportion", [0.0, 0.5, 0.75, 1.0])
def test_exactly_that_share_is_broken_and_the_rest_is_untouched(fault, proportion):
    found, broken = corrupt(CLIP, Corruption(fault, proportion))
    assert broken.sum() == int(13 * proportion)
    changed = (found != CLIP).any((1, 2, 3))
    assert np.array_equal(changed, broken)


def test_the_same_frames_are_broken_by_every_fault_and_others_by_another_seed():
    places = [corrupt(CLIP, Corruption(fault, 0.5, seed=4))[1].tolist() for fault in FAULTS]
    assert all(place == places[0] for place in places)
    assert corrupt(CLIP, Corruption("glare", 0.5, seed=5))[1].tolist() != places[0]


def test_every_frame_is_broken_anew_by_the_library_s_own_fault():
    still = np.repeat(CLIP[:1], 6, 0)
    found, _ = corrupt(still, Corruption("gaussian", 1.0, seed=1))
    assert len(np.unique(found.reshape(6, -1), axis=0)) == 6
    veiled, _ = corrupt(still, Corruption("glare", 1.0, 0.5, "paper"))
    expected = apply("glare", still[:1], 0.5, np.random.default_rng(0), preset="paper")  # draws nothing
    assert (veiled == expected).all()
    assert set(PRESETS) == {"default", "paper", "paper-multi"}


def test_a_camera_that_freezes_remembers_its_last_sound_frame():
    found, broken = corrupt(CLIP, Corruption("freeze", 0.75, seed=2))
    runs = np.flatnonzero(broken[1:] & broken[:-1]) + 1
    assert len(runs)
    for index in runs:
        assert np.array_equal(found[index], found[index - 1])


def test_the_same_seed_breaks_the_same_bytes():
    first, second = (corrupt(CLIP, Corruption("gaussian", seed=3))[0] for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize(("harm", "said"), [
    (("glaer",), "did you mean 'glare'"), (("missing",), "leaves no frame"), (("glare", 1.5), "proportion lies in"),
    (("glare", 0.5, -1.0), "at least 0"), (("glare", 0.5, 1.0, "papre"), "did you mean 'paper'"),
])  # fmt: skip
def test_mistakes_are_told(harm, said):
    with pytest.raises(ValueError, match=said):
        Corruption(*harm)
