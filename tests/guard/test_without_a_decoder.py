"""Models that cannot rebuild what they see: surprise is all there is to judge by, and whoever asks for more is told."""

import numpy as np
import pytest

import wiser
from tests import fake_world, tiny
from wiser.cli import run
from wiser.guard import JUDGES, Calibration, Chain, Greedy, Guard, Mode, Rejection, TrustAll, preferred_judge
from wiser.guard.scores import known_scores
from wiser.rollout import calibrate

SENSORS = tiny.images(1)
SURPRISES = Calibration.of({"surprise": np.array([1.0, 2.0, 6.0])}, {"surprise": np.array([2.0, 4.0, 9.0])})


def blind_model(**changes):
    return tiny.model(SENSORS, decoder=False, **changes)


def observations(count: int, rows: int = 3):
    rng = np.random.default_rng(0)
    return [tiny.batch(SENSORS, rows, rng) for _ in range(count)]


def test_there_is_nothing_to_decode() -> None:
    model = blind_model()
    assert model.decodes == ()
    assert model.decode(model.initial(2)) == {}
    whole = tiny.model(SENSORS)
    assert not [name for name in model.state_dict() if "decoder" in name]
    assert {name for name in whole.state_dict() if "decoder" not in name} == set(model.state_dict())


@pytest.mark.parametrize(("judge", "asked"), [
    ("reject", "score 'reconstruction'"),
    (Rejection(tau=1.0), "score 'reconstruction'"),
    (Rejection(score="context", denoiser=None, tau=1.0), "score 'context'"),
    (Rejection(score="surprise", tau=1.0), "denoiser 'posterior'"),
    (Rejection(score="surprise", denoiser="interpolate", tau=1.0), "denoiser 'interpolate'"),
    (Rejection(score="either"), "denoiser 'posterior'"),
    (Rejection(score="surprise", denoiser=lambda look: look.obs, transitions="reference", tau=1.0),
     "the context test of the reference transitions"),
    (Chain(Greedy(), Rejection(tau=1.0)), "score 'reconstruction'"),
])  # fmt: skip
def test_whoever_asks_for_a_reconstruction_is_told_in_a_line_what_to_do(judge, asked: str) -> None:
    with pytest.raises(ValueError, match="has no decoder") as caught:
        Guard(blind_model(), judge)
    message = str(caught.value)
    assert message == (
        f"this model has no decoder, which {asked} needs: "
        "use the judge 'predict', or Rejection(score='surprise', denoiser=None)"
    )
    with pytest.raises(ValueError, match="no decoder, so that score 'context' cannot be measured: leave it out"):
        known_scores(blind_model(), ("surprise", "context"))


def test_surprise_rejects() -> None:
    accepting, refusing = (Rejection(score="surprise", denoiser=None, tau=tau) for tau in (1e9, 0.0))
    obs = observations(1)[0]
    assert (Guard(blind_model(), accepting, rows=3).act(obs)[1].mode == Mode.GROUNDED).all()
    assert (Guard(blind_model(), refusing, rows=3).act(obs)[1].mode == Mode.PREDICTIVE).all()
    own = Rejection(score="surprise", denoiser=lambda look: look.obs, tau=0.0, tau_denoised=1e9)
    assert (Guard(blind_model(), own, rows=3).act(obs)[1].mode == Mode.DENOISED).all(), "a denoiser of one's own"


def test_predict_is_by_surprise_alone() -> None:
    """The same steps as rejection by surprise with the threshold that `predict` takes: mean + 5 std, apart at first."""
    model = blind_model()
    usual = Calibration.of({"surprise": np.array([3.3, 3.5])}, {"surprise": np.array([3.2, 3.4])})
    later, first = 3.4 + 5 * 0.1, 3.3 + 5 * 0.1
    predicting = Guard(model, "predict", rows=8, calibration=usual)
    modes = []
    for step, obs in enumerate(observations(6, rows=8)):
        _, verdict = predicting.act(obs)
        tau = later if step else first
        np.testing.assert_allclose(verdict.scores["score"], verdict.surprise / tau, rtol=1e-5)
        expected = np.where(verdict.surprise < tau, Mode.GROUNDED, Mode.PREDICTIVE)
        assert np.array_equal(verdict.mode, expected)
        modes.extend(expected.tolist())
    assert {int(Mode.GROUNDED), int(Mode.PREDICTIVE)} == set(modes)
    with pytest.raises(ValueError, match="needs a threshold for 'surprise'"):
        Guard(model, "predict")


def test_auto_is_predict_once_surprises_are_calibrated() -> None:
    model = blind_model()
    assert preferred_judge(model, None) == "none"
    assert isinstance(Guard(model).judge, TrustAll)
    assert preferred_judge(model, SURPRISES) == "predict"
    assert Guard(model, calibration=SURPRISES).judge == JUDGES["predict"]
    assert preferred_judge(tiny.model(SENSORS), SURPRISES) == "none", "one with a decoder needs both"


def test_auto_passes_over_a_judge_that_could_only_rebuild(monkeypatch) -> None:
    monkeypatch.setattr("wiser.guard.judges.PREFERRED_ALONE", ("reject", "none"))
    assert preferred_judge(blind_model(), SURPRISES) == "none"


def test_a_calibration_leaves_out_what_cannot_be_measured(tmp_path) -> None:
    sensors, actions = fake_world.described()
    wiser.save(tiny.model(sensors, actions, tower="patch", decoder=False), tmp_path)
    model = wiser.load(tmp_path)
    found = calibrate(model, fake_world.VECTOR, rows=2, steps=40, beginnings=4)
    assert {"surprise", "isolated_surprise/glow", "isolated_surprise/where", "own_surprise"} <= set(found.scores)
    assert not [name for name in found.scores if "reconstruction" in name or "context" in name]
    found.save(tmp_path)
    assert Guard(model).judge == JUDGES["witnesses"]
    for judge in ("witnesses", "calibrated", "greedy", "exhaustive", "predict", "random"):
        _, verdict = Guard(model, judge, rows=2).act(tiny.batch(sensors, 2, np.random.default_rng(0)))
        assert np.isfinite(verdict.surprise).all()


def test_commands_say_so_too(tmp_path, capsys) -> None:
    sensors, actions = fake_world.described()
    wiser.save(tiny.model(sensors, actions, tower="patch", decoder=False), tmp_path)
    assert run(["eval", str(tmp_path), fake_world.VECTOR, "--treatments", "reject", "--episodes", "2"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("this model has no decoder, which score 'reconstruction' needs: use the judge 'predict'")
