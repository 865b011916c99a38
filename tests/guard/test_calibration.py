"""Clean statistics, thresholds, and their file."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import tiny
from wiser.guard import Calibration, CalibrationError, Guard, Rejection, calibrate

finite = st.floats(-1e6, 1e6)


def test_tau_is_mean_plus_k_standard_deviations() -> None:
    calibration = Calibration.of({"m": np.array([1.0, 2.0, 3.0, 6.0])})
    assert calibration.tau("m") == pytest.approx(3.0 + 5 * np.sqrt(3.5))
    assert calibration.tau("m", k=0) == 3.0


@given(st.lists(finite, min_size=1, max_size=50), st.lists(st.floats(0, 1), min_size=2, max_size=2), st.floats(0, 9))
def test_thresholds_are_monotone(values: list[float], levels: list[float], k: float) -> None:
    calibration = Calibration.of({"m": np.array(values)})
    low, high = sorted(levels)
    assert calibration.quantile("m", low) <= calibration.quantile("m", high)
    assert calibration.tau("m", k) <= calibration.tau("m", k + 1)
    assert calibration.quantile("m", 0.0) == min(values)
    assert calibration.quantile("m", 1.0) == max(values)


def test_quantiles_agree_with_numpy_at_the_stored_levels() -> None:
    values = np.random.default_rng(0).gamma(2.0, size=5000)
    calibration = Calibration.of({"m": values})
    for level in (0.05, 0.5, 0.99, 0.999):
        assert calibration.quantile("m", level) == pytest.approx(np.quantile(values, level))


def test_round_trip(tmp_path) -> None:
    calibration = Calibration.of({"m": np.arange(10.0), "surprise/camera": np.ones(3)}, seed=4, steps=10)
    calibration.save(tmp_path)
    assert Calibration.load(tmp_path) == calibration
    assert Calibration.load(tmp_path / "calibration.json") == calibration


@pytest.mark.parametrize("damage", ["{", "[]", "{}", '{"version": 99, "levels": []}', "\x00\xff"])
def test_damaged_file_is_one_clear_error(tmp_path, damage: str) -> None:
    (tmp_path / "calibration.json").write_text(damage)
    with pytest.raises(CalibrationError, match="not a readable calibration"):
        Calibration.load(tmp_path)


def test_wrong_number_of_quantiles_is_refused(tmp_path) -> None:
    Calibration.of({"m": np.arange(10.0)}).save(tmp_path)
    body = json.loads((tmp_path / "calibration.json").read_text())
    body["scores"]["m"]["quantiles"].pop()
    (tmp_path / "calibration.json").write_text(json.dumps(body))
    with pytest.raises(CalibrationError):
        Calibration.load(tmp_path)


def test_unknown_score_names_what_there_is() -> None:
    with pytest.raises(CalibrationError, match="there is m"):
        Calibration.of({"m": np.ones(2)}).tau("n")


@pytest.mark.parametrize("values", [[], [1.0, np.nan], [np.inf]])
def test_a_clean_run_must_be_finite(values: list[float]) -> None:
    with pytest.raises(CalibrationError):
        Calibration.of({"m": np.array(values)})


def test_calibrate_records_every_score_and_accepts_what_it_saw() -> None:
    model = tiny.model((*tiny.images(2), tiny.vector("speed")))

    def stream():
        rng = np.random.default_rng(0)
        return lambda actions: (tiny.batch(model.sensors, 3, rng), np.full(3, actions is None))

    calibration = calibrate(model, stream(), rows=3, steps=20, seed=0)
    names = ("camera0", "camera1", "speed")
    expected = {"surprise", "reconstruction", "context"}
    expected |= {f"{kind}/{name}" for kind in ("isolated_surprise", "reconstruction") for name in names}
    assert set(calibration.scores) == expected
    assert all(stats.count == 60 for stats in calibration.scores.values())
    assert calibration.about == {"seed": 0, "steps": 20}
    guard = Guard(model, "none", Rejection(k=6), rows=3, calibration=calibration)
    step, actions = stream(), None
    for _ in range(20):
        obs, first = step(actions)
        actions, verdict = guard.act(obs, first)
        assert verdict.trusted.all()
