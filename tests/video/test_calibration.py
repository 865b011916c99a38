"""Thresholds: mean + k std of M on clean frames, and only for the model that they were measured with."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.video.worlds import moving_blob
from wiser.guard import Calibration, CalibrationError
from wiser.video.calibration import DENOISED, FORETOLD, SCORE, calibrate, find_calibration, gating, thresholds
from wiser.video.gate import Seen, denoised, frame_score
from wiser.video.plain import CopyLast, Linear
from wiser.video.predictor import unit

MODEL = Linear.fit([moving_blob(30, seed) for seed in range(4)], components=6)
CLIPS = [moving_blob(7, seed) for seed in (10, 11)]


def test_it_measures_frames_that_are_evenly_spaced_and_their_denoised_ones():
    found = calibrate(MODEL, CLIPS, sigma=0.2, frames=3, seed=5)
    seen = [(Seen(unit(clip[index]), index), 5 + number) for number, clip in enumerate(CLIPS) for index in (2, 4, 6)]
    plain = [frame_score(MODEL, frame, seed) for frame, seed in seen]
    mended = [frame_score(MODEL, denoised(MODEL, frame, 0.2, seed), seed) for frame, seed in seen]
    for name, values in ((SCORE, plain), (DENOISED, mended)):
        assert found.stats(name).mean == pytest.approx(np.mean(values))
        assert found.stats(name).count == 6
    assert gating(MODEL, found, sigma=0.2, k=2.0).tau == pytest.approx(np.mean(plain) + 2 * np.std(plain))
    assert thresholds(found, MODEL, 0.2, k=4.0)[1] == pytest.approx(np.mean(mended) + 4 * np.std(mended))


def test_what_is_foretold_is_kept_as_quantiles_of_errors():
    """Of every frame that is followed by enough others, by NumPy."""
    clips = [unit(moving_blob(40, seed)) for seed in (20, 21)]
    found = calibrate(MODEL, [moving_blob(40, seed) for seed in (20, 21)], frames=40)
    for lead in (1, 4):
        ahead = [
            (MODEL.follow(clip[index], lead, torch.Generator())[-1], clip[index + lead])
            for clip in clips
            for index in range(1, 40 - lead)
        ]
        errors = [float((made - true).double().square().mean()) for made, true in ahead]
        assert found.stats(f"{FORETOLD}/{lead}").count == len(errors)
        ends = np.quantile(errors, 0.005) / 1.1, np.quantile(errors, 0.995) * 1.1
        assert gating(MODEL, found).usual[lead] == pytest.approx(ends, rel=1e-4)


def test_it_is_kept_as_json_and_found_beside_the_weights(tmp_path):
    found = calibrate(MODEL, CLIPS, frames=2)
    found.save(tmp_path)
    assert Calibration.load(tmp_path / "calibration.json") == found
    assert (
        find_calibration(None, str(tmp_path)) == find_calibration(tmp_path / "calibration.json", "elsewhere") == found
    )
    with pytest.raises(CalibrationError, match="wiser video calibrate"):
        find_calibration(None, "nvidia/Cosmos-Predict2.5-2B")


def test_with_other_weights_or_settings_it_is_refused():
    found = calibrate(MODEL, CLIPS, sigma=0.3, frames=2)
    with pytest.raises(CalibrationError, match=r"sigma was 0\.3 and is 0\.2"):
        thresholds(found, MODEL, sigma=0.2)
    with pytest.raises(CalibrationError, match="components was 6 and is 3"):
        thresholds(found, Linear.fit(CLIPS, components=3), sigma=0.3)
    old = replace(found, about={name: value for name, value in found.about.items() if name != "format"})
    with pytest.raises(CalibrationError, match=r"format was None and is 2\. Calibrate again"):
        gating(MODEL, old)
    with pytest.raises(CalibrationError, match="other weights"):
        thresholds(replace(found, weights="others"), CopyLast(), sigma=0.3)
