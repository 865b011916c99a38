"""Clean statistics, thresholds, and their file."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import tiny
from wiser.guard import Calibration, CalibrationError, Greedy, Guard, Rejection, calibrate
from wiser.guard.thresholds import Threshold

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

    calibration = calibrate(model, stream(), rows=3, steps=20, beginnings=10, seed=0)
    names = ("camera0", "camera1", "speed")
    expected = {"surprise", "reconstruction", "context"}
    expected |= {f"{kind}/{name}" for kind in ("isolated_surprise", "reconstruction") for name in names}
    assert set(calibration.scores) == expected
    assert all(stats.count == 60 for stats in calibration.scores.values())
    assert all(stats.count == 12 for stats in calibration.beginnings.values()), "four batches of beginnings"
    assert calibration.about == {"seed": 0, "steps": 20}
    guard = Guard(model, "none", Rejection(k=6), rows=3, calibration=calibration)
    step, actions = stream(), None
    for _ in range(20):
        obs, first = step(actions)
        actions, verdict = guard.act(obs, first)
        assert verdict.trusted.all()


def test_first_frames_are_calibrated_apart() -> None:
    """A handful of beginnings in thousands of frames must not be what the highest quantiles are made of."""
    later, first = np.linspace(0.0, 1.0, 1001), np.linspace(20.0, 30.0, 11)
    calibration = Calibration.of({"m": later}, {"m": first})
    assert calibration.quantile("m", 0.999) == pytest.approx(0.999)
    assert calibration.quantile("m", 0.5, begin=True) == pytest.approx(25.0)
    assert calibration.tau("m", 1.0, begin=True) == pytest.approx(25.0 + first.std())


def test_each_kind_of_frame_meets_its_own_limit() -> None:
    """Limits so that every sensor is unusual later and usual at first: only the rows that begin trust them all."""
    model = tiny.model(tiny.images(3))
    names = [f"isolated_surprise/{sensor.name}" for sensor in model.sensors]
    low, high = ({name: np.array([value]) for name in names} for value in (1e-6, 1e6))
    guard = Guard(model, "calibrated", rows=2, calibration=Calibration.of(low, high))
    rng = np.random.default_rng(0)
    guard.act(tiny.batch(model.sensors, 2, rng))
    _, verdict = guard.act(tiny.batch(model.sensors, 2, rng), first=np.array([True, False]))
    assert verdict.trusted.sum(1).tolist() == [3, 1]


def test_a_calibration_of_version_1_had_all_frames_in_one(tmp_path) -> None:
    Calibration.of({"m": np.arange(10.0)}).save(tmp_path)
    body = json.loads((tmp_path / "calibration.json").read_text())
    del body["beginnings"]
    (tmp_path / "calibration.json").write_text(json.dumps(body | {"version": 1}))
    old = Calibration.load(tmp_path)
    assert old.tau("m", begin=True) == old.tau("m")


def test_the_digest_is_that_of_the_thresholds() -> None:
    one, same, other = ({"m": np.arange(10.0)}, {"m": np.arange(10.0)}, {"m": np.arange(11.0)})
    assert Calibration.of(one, seed=1).digest == Calibration.of(same, seed=2).digest
    assert Calibration.of(one).digest != Calibration.of(other).digest
    assert Calibration.of(one).digest != Calibration.of(one, other).digest


def test_thresholds_follow_the_sensors_in_use() -> None:
    """One sensor: its own. All: theirs together. Two of three: half way from the mean of their own to that of all."""
    sensors = tiny.images(3)
    samples = {"reconstruction": 8.0, **{f"reconstruction/camera{i}": float(i) for i in range(3)}}
    calibration = Calibration.of(
        {name: np.array([value]) for name, value in samples.items()},
        {name: np.array([value + 100]) for name, value in samples.items()},
    )
    tau = Threshold.calibrated(calibration, "reconstruction", "reconstruction", sensors, 5.0, torch.device("cpu"))
    masks = torch.tensor([[0, 0, 1], [1, 1, 1], [1, 0, 1], [0, 1, 0]], dtype=torch.bool)
    begin = torch.tensor([False, False, False, True])
    assert tau.of(masks, begin).tolist() == pytest.approx([2.0, 8.0, 1.0 + 0.5 * (8.0 - 1.0), 101.0])


def test_rejection_behind_a_selection_uses_the_threshold_of_what_was_selected() -> None:
    """A sensor that is rebuilt well by nature must not be judged by what is normal for all of them together."""
    model = tiny.model(tiny.images(2))
    obs = tiny.batch(model.sensors, 1, np.random.default_rng(0))
    _, verdict = Guard(model, Greedy(depth=0, include_full=False), Rejection(tau=1e9), rows=1).act(obs)
    score, chosen = float(verdict.scores["score"][0]), verdict.trusted[0].argmax()
    limits = {"reconstruction": 9.0, "reconstruction/camera0": 9.0, "reconstruction/camera1": 9.0}
    limits[f"reconstruction/camera{chosen}"] = 0.9 * score
    calibration = Calibration.of({name: np.array([value]) for name, value in limits.items()})
    guard = Guard(model, Greedy(depth=0, include_full=False), Rejection(denoiser=None), rows=1, calibration=calibration)
    assert not guard.act(obs)[1].trusted.any()
