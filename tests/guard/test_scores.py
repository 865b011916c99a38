"""Scores by name: the library's, your own, and what a calibration records of them."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from tests import tiny
from tests.calibrating import calibrate
from wiser.guard import SCORES, Calibration, Evidence, Guard, Rejection, Ruling, Score, TrustAll
from wiser.guard.look import Look
from wiser.guard.scores import known_scores, measure_scores
from wiser.worldmodel.protocol import WorldModel

SENSORS = tiny.images(2)


def brightness(look: Look) -> torch.Tensor:
    """Mean of the pictures in use, (B,)."""
    pictures = torch.stack([look.obs[sensor.name].float().flatten(1).mean(1) for sensor in SENSORS], 1)  # (B, N)
    return (pictures * look.mask).sum(1) / look.mask.sum(1)


@pytest.fixture
def registered(monkeypatch) -> None:
    monkeypatch.setitem(SCORES, "brightness", Score(brightness, alone="brightness"))


def stream(rows: int):
    """The same steps at every call: a first one, then later ones."""
    rng = np.random.default_rng(0)
    return lambda actions: (tiny.batch(SENSORS, rows, rng), np.full(rows, actions is None))


def seen(rows: int, steps: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    obs = [tiny.batch(SENSORS, rows, rng) for _ in range(steps)]
    return np.stack([[obs[t][s.name].reshape(rows, -1).mean(1) for s in SENSORS] for t in range(steps)])  # (T, N, B)


def test_an_own_score_is_calibrated_and_then_rejects_by_its_threshold(registered) -> None:
    model = tiny.model(SENSORS)
    calibration = calibrate(model, stream(3), rows=3, steps=20, beginnings=3, scores=("brightness", "surprise"))
    alone = {f"{name}/camera{i}" for name in ("brightness", "isolated_surprise") for i in range(2)}
    assert set(calibration.scores) == {"brightness", "surprise"} | alone
    values = seen(3, 21)
    assert calibration.stats("brightness").mean == pytest.approx(values[1:].mean(1).mean(), rel=1e-5)
    assert calibration.stats("brightness/camera1").std == pytest.approx(values[1:, 1].std(), rel=1e-4)
    assert calibration.stats("brightness", begin=True).mean == pytest.approx(values[0].mean(), rel=1e-5)

    judge = Rejection(score="brightness", denoiser=None, k=3.0)
    assert judge.needs == ("brightness",)
    guard = Guard(model, judge, rows=2, calibration=calibration)
    obs = tiny.batch(SENSORS, 2, np.random.default_rng(1))
    guard.act(obs)
    tau = calibration.tau("brightness", 3.0)
    for name in obs:
        obs[name][0], obs[name][1] = int(tau), int(tau) + 2  # just below, and above
    _, verdict = guard.act(obs)
    assert verdict.scores["score"].tolist() == pytest.approx([int(tau), int(tau) + 2])
    assert verdict.trusted.all(1).tolist() == [True, False]


def test_by_default_a_calibration_has_every_score_that_the_model_can_give(registered) -> None:
    model = tiny.model(SENSORS)
    assert set(known_scores(model)) == {"surprise", "reconstruction", "context", "brightness"}
    model.decodes = ()
    assert set(known_scores(model)) == {"surprise", "brightness"}
    calibration = calibrate(model, stream(2), rows=2, steps=3, beginnings=2)
    assert {name.split("/")[0] for name in calibration.scores} == {"surprise", "isolated_surprise", "brightness"}


def test_scores_that_cannot_be_measured_are_refused_before_anything_is_driven() -> None:
    model = tiny.model(SENSORS)
    with pytest.raises(ValueError, match="unknown score 'charm'; there are surprise, reconstruction, context"):
        calibrate(model, pytest.fail, rows=2, steps=3, scores=("charm",))
    model.decodes = ()
    with pytest.raises(ValueError, match="no decoder"):
        calibrate(model, pytest.fail, rows=2, steps=3, scores=("reconstruction",))


def test_sensors_that_are_not_decoded_have_no_reconstruction_of_their_own() -> None:
    model = tiny.model(SENSORS)
    model.decodes, model.decoders = ("camera1",), model.decoders[1:]
    look = Look(
        model,
        model.predict(model.initial(2), torch.zeros(2, 5), torch.ones(2, dtype=torch.bool)),
        obs := tiny.tensors(tiny.batch(SENSORS, 2, np.random.default_rng(0))),
        model.embed(obs),
        torch.ones(2, 2, dtype=torch.bool),
    )
    found = measure_scores(look, known_scores(model, ["reconstruction"]))
    assert set(found) == {"reconstruction", "reconstruction/camera1"}


@dataclass(frozen=True)
class Drift:
    """Rejects everything where the mean surprise since an episode began exceeds what it ever was on clean runs."""

    needs = ("drift",)

    def measure(self, model: WorldModel, rows: int):
        total, count = torch.zeros(rows), torch.zeros(rows)

        def meter(evidence: Evidence) -> dict[str, torch.Tensor]:
            nonlocal total, count
            total = torch.where(evidence.begin, 0, total) + evidence.look.surprise
            count = torch.where(evidence.begin, 0, count) + 1
            return {"drift": total / count}

        return meter

    def conclude(self, calibration: Calibration, frames, begin):
        return {"steady": frames["drift"] - calibration.quantile("drift", 0.5)}

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None):
        assert calibration is not None
        return DriftSitting(self.measure(model, rows), calibration.quantile("drift", 1.0))


@dataclass(frozen=True)
class DriftSitting:
    meter: object
    limit: float

    def rule(self, evidence: Evidence) -> Ruling:
        drift = self.meter(evidence)["drift"]
        ruling = TrustAll().rule(evidence)
        return ruling._replace(trusted=ruling.trusted & (drift <= self.limit)[:, None], scores={"drift": drift})


def test_a_judge_with_memory_adds_statistics_of_its_own_to_a_calibration() -> None:
    model = tiny.model(SENSORS)
    calibration = calibrate(model, stream(3), rows=3, steps=12, beginnings=6, scores=(), judges=(Drift(),))
    assert set(calibration.scores) == set(calibration.beginnings) == {"drift", "steady"}
    guard, step, actions, nats, drift = Guard(model, "none", rows=3), stream(3), None, [], []
    for count in range(14):  # two beginnings of three rows, the second of which is driven on
        obs, first = step(actions)
        actions, verdict = guard.act(obs, first)
        nats = [verdict.surprise] if first.all() else [*nats, verdict.surprise]
        drift.append(np.mean(nats, 0))
        actions = None if count == 0 else actions
    assert calibration.stats("drift", begin=True).mean == pytest.approx(np.mean(drift[:2]), rel=1e-5)
    assert calibration.stats("drift").mean == pytest.approx(np.mean(drift[2:]), rel=1e-5)
    assert calibration.stats("drift").count == 36

    usual = Calibration.of({"drift": np.array([np.median(drift)])})
    judged, step, actions = Guard(model, Drift(), rows=3, calibration=usual), stream(3), None
    for count in range(14):
        obs, first = step(actions)
        actions, verdict = judged.act(obs, first)
        trusted = verdict.scores["drift"] <= usual.quantile("drift", 1.0)
        assert verdict.trusted.tolist() == [[row] * 2 for row in trusted]
        actions = None if count == 0 else actions
