"""The guard never raises on a bad observation, and nothing non-finite gets past it."""

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.guard import Guard, Health, Rejection
from wiser.worldmodel.protocol import Sensor

SENSORS = (
    tiny.image("camera"),
    Sensor("depth", (16, 16, 1), "float32", 0.0, 1.0),
    Sensor("speed", (2,), "float32", -50.0, 50.0),
    Sensor("bump", (), "float32", 0.0, float("inf")),
)


class Trap:
    """Fails whatever is done to it."""

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        raise RuntimeError("no array here")

    def __len__(self) -> int:
        raise OSError("no length here")

    def __getitem__(self, key: object) -> object:
        raise MemoryError("nothing inside")


class TrapDict(dict):
    def get(self, *args: object) -> object:
        raise RuntimeError("no keys here")


def hostile_value(sensor: Sensor, good: np.ndarray, rng: np.random.Generator) -> object:
    """One broken reading. `good` has whatever leading shape a healthy one would have."""
    wild = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 3.4e38])
    options = [
        lambda: None,
        lambda: np.full(good.shape, rng.choice(wild)),
        lambda: np.where(rng.random(good.shape) < 0.1, rng.choice(wild), good.astype(np.float64)),
        lambda: np.empty(0, good.dtype),
        lambda: good.ravel(),
        lambda: np.zeros((3, 5), good.dtype),
        lambda: good.astype(np.complex64),
        lambda: good.astype(rng.choice(np.array(["float64", "float16", "int64", "uint16", "bool"]))),
        lambda: good.astype(object),
        lambda: np.array(["x"] * 3),
        lambda: good.tolist(),
        lambda: "camera",
        lambda: Trap(),
        lambda: [None] * 2,
        lambda: np.flip(good),
        lambda: torch.as_tensor(good).requires_grad_(good.dtype == np.float32),
        lambda: torch.full(good.shape, float("nan")),
        lambda: torch.as_tensor(good).to_sparse(),
        lambda: good.astype(good.dtype.newbyteorder()),
        lambda: np.ma.masked_array(good, mask=rng.random(good.shape) < 0.5),
        lambda: good.astype(np.float64) * 1e6,
        lambda: -good.astype(np.int32),
        lambda: {"nested": good},
        lambda: float("nan"),
    ]
    value = options[rng.integers(len(options))]()
    if isinstance(value, np.ndarray) and rng.random() < 0.2:
        value.setflags(write=False)
    return value


def hostile_observation(good: dict[str, np.ndarray], rng: np.random.Generator) -> object:
    kind = rng.random()
    if kind < 0.04:
        nonsense = [None, "obs", 3, Trap(), TrapDict(good), [], [good], {}, {1: 2}]
        return nonsense[rng.integers(len(nonsense))]
    broken: dict[object, object] = dict(good)
    for sensor in SENSORS:
        if rng.random() < 0.5:
            broken[sensor.name] = hostile_value(sensor, good[sensor.name], rng)
        elif rng.random() < 0.1:
            del broken[sensor.name]
    if rng.random() < 0.1:
        broken["unknown"] = Trap()
    return broken


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("settings", ["greedy", "exhaustive", "reject"])
@pytest.mark.parametrize("rows", [None, 3])
@pytest.mark.parametrize("actions", [tiny.DISCRETE, tiny.CONTINUOUS])
def test_no_exception_and_no_non_finite_belief(settings: str, rows: int | None, actions) -> None:
    judge = Rejection(tau=0.3, transitions="reference") if settings == "reject" else settings
    model = tiny.model(SENSORS, actions)
    stop = 0 if actions.discrete else [0.0, 0.0]
    guard = Guard(
        model,
        judge,
        rows=rows,
        health=Health(frozen_after=3, max_age=0.5),
        blind_limit=4,
        fallback=lambda verdict: stop,
        sample_latents=actions.discrete,
        sample_actions=not actions.discrete,
    )
    rng = np.random.default_rng(0)
    good = None
    for step in range(400):
        if good is None or rng.random() < 0.7:  # otherwise repeat: a frozen stream
            good = tiny.batch(SENSORS, rows, rng) if rows else tiny.observation(SENSORS, rng)
            good["bump"], good["depth"] = np.abs(good["bump"]), np.clip(np.abs(good["depth"]), 0, 1)
        ages = {"camera": rng.choice([0.0, 1.0, np.nan]), "speed": "old"} if rng.random() < 0.3 else None
        action, verdict = guard.act(hostile_observation(good, rng), rng.random() < 0.05, ages)
        assert torch.isfinite(guard.belief.deter).all(), step
        assert torch.isfinite(guard.belief.stoch).all(), step
        if actions.discrete:
            assert np.isin(np.asarray(action), range(5)).all()
        else:
            assert (np.abs(np.asarray(action)) <= [3.0, 1.0]).all()
        assert np.isfinite(np.asarray(verdict.surprise))[np.asarray(verdict.trusted).any(-1)].all()
        assert not (np.asarray(verdict.surprise) < 0).any()
        assert not (np.asarray(verdict.trusted) & ~np.asarray(verdict.healthy)).any()
        masked = ~np.asarray(verdict.healthy).reshape(guard.rows, -1)
        reasons = [verdict.reasons] if rows is None else verdict.reasons
        for row, bad in enumerate(masked):
            assert {name for name, is_bad in zip(guard.sensor_names, bad, strict=True) if is_bad} <= set(reasons[row])


def test_a_whole_stream_of_nothing_is_predictive_and_then_fallback() -> None:
    guard = Guard(tiny.model(SENSORS), blind_limit=2, fallback=lambda verdict: 4)
    modes, actions = [], []
    for _ in range(4):
        action, verdict = guard.act(None)
        modes.append(verdict.mode.name)
        actions.append(int(action))
        assert verdict.reasons == dict.fromkeys(guard.sensor_names, "missing")
    assert modes == ["PREDICTIVE", "PREDICTIVE", "FALLBACK", "FALLBACK"]
    assert actions[2:] == [4, 4]
    assert guard._action[0].tolist() == [0, 0, 0, 0, 1], "the model must know what was really done"
