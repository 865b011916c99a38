"""The gate over frames: hand-worked stories, and what it promises whatever the model."""

from functools import cache

import numpy as np
import pytest
import torch

from tests.video.worlds import Scripted, grey, moving_blob, plain_clip
from wiser.guard import Mode
from wiser.video.calibration import calibrate, gating
from wiser.video.gate import Gating, Seen, frame_score, gate, ungated
from wiser.video.plain import Linear
from wiser.video.predictor import unit

CLEAN, LIGHT, HEAVY, ALSO = 0.2, 0.4, 0.6, 0.8
MENDED, BOTCHED = 0.25, 0.65
SCORES = {CLEAN: 0.0, ALSO: 0.0, LIGHT: 0.04, HEAVY: 0.09, MENDED: 0.0, BOTCHED: 0.04}
REPAIRED = {LIGHT: MENDED, HEAVY: BOTCHED}
SETTINGS = {"tau": 0.01, "tau_denoised": 0.001}

# frames -> what stands for each, its mode, where the context is reset, and what the model goes on from
STORIES = {
    "all clean": (
        (CLEAN, CLEAN, ALSO, CLEAN, ALSO), (CLEAN, CLEAN, ALSO, CLEAN, ALSO), "GGGGG", "",
        (CLEAN, CLEAN, ALSO, CLEAN, ALSO),
    ),
    "a light one is used as denoised": (
        (CLEAN, LIGHT, CLEAN, CLEAN, ALSO), (CLEAN, MENDED, CLEAN, CLEAN, ALSO), "GDGGG", "",
        (CLEAN, MENDED, CLEAN, CLEAN, ALSO),
    ),
    "the last two are predicted": (
        (CLEAN, CLEAN, ALSO, HEAVY, HEAVY), (CLEAN, CLEAN, ALSO, 0.801, 0.802), "GGGPP", "",
        (CLEAN, CLEAN, ALSO, 0.801, 0.802),
    ),
    "back from predictions the context begins anew": (
        (CLEAN, HEAVY, HEAVY, ALSO, CLEAN), (CLEAN, 0.201, 0.202, ALSO, CLEAN), "GPPGG", "3",
        (ALSO, CLEAN),
    ),
    "back by a denoised frame too": (
        (CLEAN, HEAVY, LIGHT, CLEAN, HEAVY), (CLEAN, 0.201, MENDED, CLEAN, 0.201), "GPDGP", "2",
        (MENDED, CLEAN, 0.201),
    ),
    "nothing to predict from at first": (
        (HEAVY, HEAVY, ALSO, HEAVY, CLEAN), (ALSO, ALSO, ALSO, 0.801, CLEAN), "PPGPG", "24",
        (CLEAN,),
    ),
}  # fmt: skip
LETTERS = {"G": Mode.GROUNDED, "D": Mode.DENOISED, "P": Mode.PREDICTIVE}


@pytest.mark.parametrize("story", STORIES)
def test_stories_go_as_worked_out_by_hand(story):
    frames, window, modes, resets, context = STORIES[story]
    found = gate(plain_clip(*frames), Scripted(SCORES, REPAIRED), Gating(**SETTINGS), seed=0)
    assert found.modes == [LETTERS[letter] for letter in modes]
    assert [grey(frame) for frame in found.window] == list(window)
    assert [grey(frame) for frame in found.context] == list(context)
    assert [place for place, verdict in enumerate(found.verdicts) if verdict.reset] == [int(place) for place in resets]


def test_without_resets_predictions_stay_in_the_context():
    settings = Gating(**SETTINGS, transitions="keep")
    found = gate(plain_clip(CLEAN, HEAVY, HEAVY, ALSO, CLEAN), Scripted(SCORES, REPAIRED), settings, seed=0)
    assert [grey(frame) for frame in found.context] == [CLEAN, 0.201, 0.202, ALSO, CLEAN]
    assert not any(verdict.reset for verdict in found.verdicts)


def test_without_a_denoiser_what_is_not_clean_is_predicted():
    settings = Gating(**SETTINGS, sigma=None)
    found = gate(plain_clip(CLEAN, LIGHT, HEAVY, CLEAN, ALSO), Scripted(SCORES, {}), settings, seed=0)
    assert "".join(mode.name[0] for mode in found.modes) == "GPPGG"
    assert [grey(frame) for frame in found.window] == [CLEAN, 0.201, 0.202, CLEAN, ALSO]


def test_frames_rejected_in_a_row_come_from_one_generation():
    model = Scripted(SCORES, REPAIRED)
    gate(plain_clip(CLEAN, ALSO, HEAVY, HEAVY, CLEAN, HEAVY), model, Gating(**SETTINGS, frames=6), seed=0)
    assert model.rollouts == [([CLEAN, ALSO], 4), ([CLEAN], 1)]


def test_if_none_is_accepted_the_least_bad_is_gone_on_from_to_the_end_and_said_so():
    scores = {HEAVY: 0.09, BOTCHED: 0.02, LIGHT: 0.04, MENDED: 0.005}  # beyond their thresholds: 9, 20, 4 and 5 times
    model = Scripted(scores, REPAIRED)
    found = gate(plain_clip(HEAVY, LIGHT, HEAVY, HEAVY), model, Gating(**SETTINGS), seed=0)
    assert found.modes == [Mode.PREDICTIVE, Mode.FALLBACK, Mode.PREDICTIVE, Mode.PREDICTIVE]
    assert [grey(frame) for frame in found.window] == [LIGHT, LIGHT, 0.401, 0.402]
    assert [grey(frame) for frame in found.context] == [LIGHT, 0.401, 0.402]
    assert model.rollouts == [([LIGHT], 2)]
    assert "least bad" in repr(found.verdicts[1])
    assert ["nothing to predict from" in repr(verdict) for verdict in found.verdicts] == [True, False, False, False]
    assert [verdict.blind_steps for verdict in found.verdicts] == [1, 2, 3, 4]


def test_the_last_frame_may_be_the_least_bad():
    model = Scripted({HEAVY: 0.09, BOTCHED: 0.02, LIGHT: 0.04, MENDED: 0.005}, REPAIRED)
    found = gate(plain_clip(HEAVY, HEAVY, LIGHT), model, Gating(**SETTINGS, condition=1), seed=0)
    assert [grey(frame) for frame in found.context] == [LIGHT]
    assert [grey(frame) for frame in found.window] == [LIGHT] * 3
    assert model.rollouts == []


def test_a_verdict_reads_as_a_line():
    found = gate(plain_clip(CLEAN, LIGHT, HEAVY, HEAVY), Scripted(SCORES, REPAIRED), Gating(**SETTINGS), seed=0)
    assert [repr(verdict) for verdict in found.verdicts] == [
        "GROUNDED, 1 of 1 sensors trusted",
        "DENOISED, 1 of 1 sensors trusted (camera: M 0.04 not below 0.01; denoised 0 is below 0.001)",
        "PREDICTIVE, 0 of 1 sensors trusted (camera: M 0.09 not below 0.01, denoised 0.04 not below 0.001)",
        "PREDICTIVE, 0 of 1 sensors trusted, 2 steps blind "
        "(camera: M 0.09 not below 0.01, denoised 0.04 not below 0.001)",
    ]


@pytest.mark.parametrize(("frames", "condition", "gated", "base"), [
    ((CLEAN,) * 7, 5, 5, 5), ((CLEAN,) * 7, 1, 1, 1), ((CLEAN, HEAVY), 5, 2, 2), ((CLEAN, HEAVY), 1, 1, 1),
    ((CLEAN, CLEAN, CLEAN, HEAVY, CLEAN, CLEAN), 5, 2, 5), ((HEAVY, CLEAN) * 4, 1, 1, 1),
])  # fmt: skip
def test_the_context_holds_the_frames_that_are_there_and_no_copies(frames, condition, gated, base):
    """As many as without a gate, but for what a reset takes away."""
    settings, clip = Gating(**SETTINGS, condition=condition), plain_clip(*frames)
    assert len(gate(clip, Scripted(SCORES, REPAIRED), settings, seed=0).context) == gated
    assert torch.equal(ungated(clip, condition), unit(clip[len(clip) - base :]))


@cache
def linear() -> Linear:
    return Linear.fit([moving_blob(40, seed) for seed in range(8)], components=12)


@cache
def judged_by_linear() -> Gating:
    return gating(linear(), calibrate(linear(), [moving_blob(12, seed) for seed in range(20, 30)]))


@pytest.mark.parametrize("condition", [1, 5])
def test_clean_input_is_left_as_it_was(condition):
    settings = Gating(judged_by_linear().tau, judged_by_linear().tau_denoised, condition=condition)
    for seed in range(40, 50):
        clip = moving_blob(9, seed)
        found = gate(clip, linear(), settings, seed)
        assert set(found.modes) == {Mode.GROUNDED}
        assert torch.equal(found.context, ungated(clip, condition))
        assert torch.equal(found.window, unit(clip[-5:]))


def test_the_same_seed_gives_the_same_and_another_one_other_draws():
    clip = moving_blob(6, 50)
    clip[3] = 255 - clip[3]
    settings = Gating(judged_by_linear().tau, 1.0)  # D of the broken frame passes: its draws are in the window
    first, again, other = (gate(clip, linear(), settings, seed).window for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_score_depends_on_no_other_frame():
    clip = moving_blob(8, 51)
    alone = frame_score(linear(), Seen(unit(clip[7]), 7), seed=3)
    for frames in (1, 5, 8):
        found = gate(clip, linear(), Gating(1.0, 1.0, frames=frames, condition=1), seed=3)
        assert found.verdicts[-1].scores["score"] == pytest.approx(alone)
        assert found.start == 8 - frames


class Dice(Scripted):
    """Predicts noise."""

    def follow(self, frame: torch.Tensor, count: int, draws: torch.Generator) -> torch.Tensor:
        return torch.rand((count, *frame.shape), generator=draws)


def test_every_frame_has_draws_of_its_own():
    found = gate(plain_clip(*[CLEAN] * 5), Dice({}, {}), Gating(1.0, 1.0), seed=0)
    assert len({verdict.scores["score"] for verdict in found.verdicts}) == 5


def test_broken_frames_of_a_model_that_knows_its_world_are_found():
    clip = moving_blob(5, 52)
    clip[2:4] = np.random.default_rng(0).integers(0, 256, clip[2:4].shape)
    found = gate(clip, linear(), judged_by_linear(), seed=0)
    assert [mode == Mode.GROUNDED for mode in found.modes] == [True, True, False, False, True]
    error = (found.window - unit(moving_blob(5, 52))).abs().mean()
    assert error < 0.2 * (unit(clip) - unit(moving_blob(5, 52))).abs().mean()


@pytest.mark.parametrize(("settings", "said"), [
    ({"sigma": 1.0}, "between 0 and 1"), ({"frames": 3}, "frames must be at least 5"),
    ({"transitions": "reference"}, "'paper'"), ({"condition": 0}, "condition must be at least 1"),
])  # fmt: skip
def test_what_makes_no_sense_is_said(settings, said):
    with pytest.raises(ValueError, match=said):
        Gating(1.0, 1.0, **settings)
