"""Clean statistics, thresholds, and their file."""

import json
from itertools import product
from zlib import crc32

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import naive, tiny
from tests.calibrating import calibrate
from wiser.guard import Calibration, CalibrationError, Chain, Greedy, Guard, Rejection
from wiser.guard.thresholds import Threshold
from wiser.worldmodel.protocol import Belief, Prior

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
    guard = Guard(model, Rejection(k=6), rows=3, calibration=calibration)
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


def test_a_calibration_of_version_2_is_read_as_it_is(tmp_path) -> None:
    calibration = Calibration.of({"m": np.arange(10.0)}, {"m": np.arange(3.0)}, seed=1)
    calibration.save(tmp_path)
    body = json.loads((tmp_path / "calibration.json").read_text())
    assert body["version"] == 3
    (tmp_path / "calibration.json").write_text(json.dumps(body | {"version": 2}))
    assert Calibration.load(tmp_path) == calibration


def test_a_file_says_its_own_levels_and_is_interpolated_between_them(tmp_path) -> None:
    Calibration.of({"m": np.arange(10.0)}).save(tmp_path)
    body = json.loads((tmp_path / "calibration.json").read_text())
    for part in ("scores", "beginnings"):
        body[part]["m"]["quantiles"] = [1.0, 2.0, 6.0]
    (tmp_path / "calibration.json").write_text(json.dumps(body | {"levels": [0.1, 0.5, 0.9]}))
    calibration = Calibration.load(tmp_path)
    assert [calibration.quantile("m", level) for level in (0.1, 0.3, 0.6, 0.9)] == pytest.approx([1.0, 1.5, 3.0, 6.0])
    for level in (0.05, 0.999):
        with pytest.raises(CalibrationError, match="quantiles are known from"):
            calibration.quantile("m", level)
    calibration.save(tmp_path)
    assert Calibration.load(tmp_path) == calibration
    assert calibration.digest != Calibration(calibration.scores, calibration.beginnings, levels=(0.2, 0.5, 0.9)).digest


@pytest.mark.parametrize("levels", [[], [0.5, 0.5, 0.9], [0.9, 0.5, 0.1], [-0.1, 0.5, 1.0], [0.0, 0.5, 1.1], ["a"] * 3])
def test_levels_that_do_not_rise_from_0_to_1_are_refused(tmp_path, levels: list) -> None:
    Calibration.of({"m": np.arange(10.0)}).save(tmp_path)
    body = json.loads((tmp_path / "calibration.json").read_text())
    for part in ("scores", "beginnings"):
        body[part]["m"]["quantiles"] = [1.0] * len(levels)
    (tmp_path / "calibration.json").write_text(json.dumps(body | {"levels": levels}))
    with pytest.raises(CalibrationError, match="not a readable calibration"):
        Calibration.load(tmp_path)


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
    alone = [f"reconstruction/{sensor.name}" for sensor in sensors]
    tau = Threshold.calibrated(calibration, "reconstruction", alone, 5.0, torch.device("cpu"))
    masks = torch.tensor([[0, 0, 1], [1, 1, 1], [1, 0, 1], [0, 1, 0]], dtype=torch.bool)
    begin = torch.tensor([False, False, False, True])
    assert tau.of(masks, begin).tolist() == pytest.approx([2.0, 8.0, 1.0 + 0.5 * (8.0 - 1.0), 101.0])


def test_rejection_behind_a_selection_uses_the_threshold_of_what_was_selected() -> None:
    """A sensor that is rebuilt well by nature must not be judged by what is normal for all of them together."""
    model = tiny.model(tiny.images(2))
    obs = tiny.batch(model.sensors, 1, np.random.default_rng(0))
    _, verdict = Guard(model, Chain(Greedy(depth=0, include_full=False), Rejection(tau=1e9)), rows=1).act(obs)
    score, chosen = float(verdict.scores["score"][0]), verdict.trusted[0].argmax()
    limits = {"reconstruction": 9.0, "reconstruction/camera0": 9.0, "reconstruction/camera1": 9.0}
    limits[f"reconstruction/camera{chosen}"] = 0.9 * score
    calibration = Calibration.of({name: np.array([value]) for name, value in limits.items()})
    chain = Chain(Greedy(depth=0, include_full=False), Rejection(denoiser=None))
    guard = Guard(model, chain, rows=1, calibration=calibration)
    assert not guard.act(obs)[1].trusted.any()


SENSORS = (tiny.image("camera"), tiny.vector("speed"))


def one_hot(codes: np.ndarray) -> torch.Tensor:
    return torch.nn.functional.one_hot(torch.from_numpy(codes), 4).float()


def likeliest(logprobs: torch.Tensor) -> torch.Tensor:
    return one_hot(logprobs.numpy().argmax(-1))


def gap(model, obs, belief: Belief, used: list[str]) -> np.ndarray:
    """Mean absolute error of what the belief decodes to, each sensor alike: (B,)."""
    decoded = {name: x.numpy() for name, x in model.decode(belief).items()}
    camera = np.abs(obs["camera"] / 255.0 - decoded["camera"]).mean((1, 2, 3))
    logs = [np.sign(v) * np.log1p(np.abs(v)) for v in (obs["speed"], decoded["speed"])]
    return np.mean([{"camera": camera, "speed": np.abs(logs[0] - logs[1]).mean(1)}[name] for name in used], axis=0)


def measured_by_hand(model, stream, firsts, rows: int) -> dict[str, list[np.ndarray]]:
    """Every score of an agent that trusts all its sensors, from raw readings, with the draws of its rows."""
    dice = [np.random.default_rng(np.random.SeedSequence(row, spawn_key=(crc32(b"guard"),))) for row in range(rows)]
    subsets = {"": [True, True], "camera": [True, False], "speed": [False, True]}
    belief, action = model.initial(rows), torch.zeros(rows, 5)
    start = model.predict(model.initial(rows), torch.zeros(rows, 5), torch.ones(rows, dtype=torch.bool))
    scores: dict[str, list[np.ndarray]] = {}
    for obs, first in zip(stream, firsts, strict=True):
        prior = model.predict(belief, action, torch.from_numpy(first))
        readings = tiny.tensors(obs)
        for name, trusted in subsets.items():
            q = naive.posterior(model, prior, readings, trusted)
            nats = np.array([naive.surprise(q[row], prior.logprobs[row]) for row in range(rows)])
            free = naive.posterior(model, Prior(start.deter, start.logprobs), readings, trusted)
            used = ["camera", "speed"] if not name else [name]
            scores.setdefault(f"isolated_surprise/{name}" if name else "surprise", []).append(nats)
            rebuilt = gap(model, obs, Belief(start.deter, likeliest(free)), used)
            scores.setdefault(f"reconstruction/{name}" if name else "reconstruction", []).append(rebuilt)
            if not name:
                everything = q
                in_context = gap(model, obs, Belief(prior.deter, likeliest(q)), used)
                scores.setdefault("context", []).append(in_context)
        chances = everything.exp().numpy().cumsum(-1)
        drawn = np.stack([die.random(model.config.stoch) for die in dice])
        belief = Belief(prior.deter, one_hot((chances <= drawn[..., None]).sum(-1).clip(max=3)))
        action = torch.eye(5)[model.act(belief).argmax(-1)]
    return scores


def test_a_calibration_is_the_statistics_of_the_agent_that_trusts_every_sensor() -> None:
    model, rng = tiny.model(SENSORS), np.random.default_rng(0)
    stream = [tiny.batch(SENSORS, 3, rng) for _ in range(8)]
    firsts = [np.ones(3, bool), *(rng.random(3) < 0.3 for _ in range(7))]
    told: list = []

    def step(actions):
        told.append(actions)
        return stream[len(told) - 1], firsts[len(told) - 1]

    calibration = calibrate(model, step, rows=3, steps=8, beginnings=0)
    expected = {name: np.concatenate(values) for name, values in measured_by_hand(model, stream, firsts, 3).items()}
    assert set(calibration.scores) == set(calibration.beginnings) == set(expected)
    fresh = np.concatenate(firsts)
    for name, (begin, of) in product(expected, ((False, ~fresh), (True, fresh))):
        found, values = calibration.stats(name, begin), expected[name][of]
        assert found.count == of.sum()
        assert found.mean == pytest.approx(values.mean(), rel=1e-4), name
        assert found.std == pytest.approx(values.std(), rel=1e-3), name
        assert calibration.quantile(name, 0.9, begin) == pytest.approx(np.quantile(values, 0.9), rel=1e-4), name
    unguarded = Guard(model, "none", rows=3)
    assert told[0] is None
    for obs, first, chosen in zip(stream, firsts, told[1:], strict=False):
        assert np.array_equal(unguarded.act(obs, first)[0], chosen), "it drives as the agent would"
