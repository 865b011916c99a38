"""Parts of rejection, each against a direct computation."""

import numpy as np
import pytest
import torch

import wiser
from tests import tiny
from wiser.guard import Calibration, CalibrationError, Guard, Mode, Rejection
from wiser.guard.look import Look, reconstruction_error

SENSORS = (tiny.image("camera"), tiny.image("thermal"), tiny.vector("speed"))


def look_at(model, rows: int = 3) -> Look:
    obs = tiny.tensors(tiny.batch(model.sensors, rows, np.random.default_rng(0)))
    prior = model.predict(model.initial(rows), torch.zeros(rows, 5), torch.ones(rows, dtype=torch.bool))
    return Look(model, prior, obs, model.embed(obs), torch.ones(rows, len(model.sensors), dtype=torch.bool))


def test_only_sensors_in_use_count() -> None:
    model = tiny.model(SENSORS)
    look = look_at(model)
    mask = torch.tensor([[True, False, False], [False, True, False], [False, False, False]])
    error = reconstruction_error(look.trusting(mask), look.belief)
    decoded = model.decode(look.belief)
    for row, name in ((0, "camera"), (1, "thermal")):
        expected = (look.obs[name][row].float() / 255 - decoded[name][row]).abs().mean()
        assert float(error[row]) == pytest.approx(float(expected), rel=1e-5)
    assert error[2] == torch.inf


def test_a_wild_reading_of_an_unused_sensor_changes_nothing() -> None:
    model = tiny.model(SENSORS)
    look = look_at(model)
    mask = torch.tensor([[True, True, False]]).expand(3, -1)
    wild = Look(model, look.prior, {**look.obs, "speed": torch.full((3, 3), 3e38)}, look.features, mask)
    assert torch.equal(reconstruction_error(wild, look.belief), reconstruction_error(look.trusting(mask), look.belief))


def run(guard: Guard, steps: int = 4) -> list[int]:
    rng = np.random.default_rng(0)
    return [int(guard.act(tiny.observation(guard.model.sensors, rng))[1].mode) for _ in range(steps)]


def test_every_threshold_is_used() -> None:
    """All scores lie between 0 and 1e9, so thresholds of those two values switch each test off and on."""
    model = tiny.model(SENSORS)

    def modes(**settings: object) -> list[int]:
        return run(Guard(model, Rejection(**settings)))

    never, always = 0.0, 1e9
    assert modes(tau=always) == [Mode.GROUNDED] * 4
    assert modes(tau=never) == [Mode.PREDICTIVE] * 4
    assert modes(tau=never, tau_denoised=always) == [Mode.DENOISED] * 4
    reference = {"tau": never, "tau_denoised": always, "transitions": "reference"}
    assert modes(**reference, tau_context=always) == [Mode.DENOISED] * 4
    # denoised but out of context: predict first, then accept it with a reset
    assert modes(**reference, tau_context=never) == [Mode.PREDICTIVE] + [Mode.DENOISED] * 3
    assert modes(tau=never, tau_denoised=always, denoiser=None) == [Mode.PREDICTIVE] * 4


def test_scores_have_the_same_names_whatever_was_measured() -> None:
    model = tiny.model(SENSORS)
    for tau in (0.0, 1e9):
        _, verdict = Guard(model, Rejection(tau=tau), rows=2).act(tiny.batch(SENSORS, 2, np.random.default_rng(0)))
        assert set(verdict.scores) == {"score", "denoised", "context"}
        assert np.isnan(verdict.scores["denoised"]).all() == (tau > 0)


def test_rejected_rows_report_the_surprise_of_what_was_rejected() -> None:
    model = tiny.model(SENSORS)
    obs = tiny.batch(SENSORS, 2, np.random.default_rng(0))
    _, accepted = Guard(model, "none", rows=2).act(obs)
    _, rejected = Guard(model, Rejection(tau=0.0), rows=2).act(obs)
    assert np.array_equal(accepted.surprise, rejected.surprise)
    assert (accepted.surprise > 0).all()
    _, blind = Guard(model, "none", rows=2).act({})
    assert np.isnan(blind.surprise).all()


def test_either_is_the_smaller_share_of_both_thresholds(tmp_path) -> None:
    model = tiny.model(SENSORS)
    samples = {"reconstruction": np.array([0.1, 0.2, 0.3]), "surprise": np.array([1.0, 2.0, 6.0])}
    calibration = Calibration.of(samples)
    obs = tiny.batch(model.sensors, 3, np.random.default_rng(0))
    shares = []
    for name, values in samples.items():
        _, verdict = Guard(model, Rejection(score=name, tau=1e9), rows=3).act(obs)
        shares.append(verdict.scores["score"] / (values.mean() + 2 * values.std()))
    either = Rejection(score="either", denoiser=None, transitions="keep", k=2.0)
    guard = Guard(model, either, rows=3, calibration=calibration)
    _, verdict = guard.act(obs)
    np.testing.assert_allclose(verdict.scores["score"], np.minimum(*shares), rtol=1e-5)
    assert ((verdict.mode == Mode.GROUNDED) == (np.minimum(*shares) < 1)).all()
    with pytest.raises(ValueError, match="threshold for 'reconstruction'"):
        Guard(model, either)


def test_calibration_of_other_weights_is_refused(tmp_path) -> None:
    wiser.save(tiny.model(SENSORS), tmp_path)
    loaded = wiser.load(tmp_path)
    Calibration.of({"reconstruction": np.array([0.1, 0.2])}, weights=loaded.digest).save(tmp_path)
    Guard(loaded, Rejection())
    wiser.save(tiny.model(SENSORS, seed=1), tmp_path)
    with pytest.raises(CalibrationError, match="calibrate again"):
        Guard(wiser.load(tmp_path), Rejection())
