"""Layer 1: what is masked before any network runs, and why."""

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.guard import Guard, Health
from wiser.worldmodel.protocol import Sensor

CAMERA = tiny.image("camera")
SPEED = Sensor("speed", (2,), "float32", -10.0, 10.0)
SENSORS = (CAMERA, SPEED)


def guard(**settings) -> Guard:
    return Guard(tiny.model(SENSORS), "none", **settings)


def good(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"camera": tiny.reading(CAMERA, rng), "speed": rng.uniform(-1, 1, 2).astype(np.float32)}


CASES = {
    "missing": lambda o: o.pop("camera"),
    "shape (8, 8, 3) instead of (16, 16, 3)": lambda o: o.update(camera=np.zeros((8, 8, 3), np.uint8)),
    "float32 values instead of uint8": lambda o: o.update(camera=np.zeros((16, 16, 3), np.float32)),
    "int64 values instead of uint8": lambda o: o.update(camera=np.full((16, 16, 3), 256)),
    "torch.complex64 instead of plain numbers": lambda o: o.update(camera=np.zeros((16, 16, 3), np.complex64)),
    "torch.sparse_coo instead of plain numbers": lambda o: o.update(camera=torch.ones(16, 16, 3).to_sparse()),
    "unreadable: TypeError": lambda o: o.update(camera=np.zeros((16, 16, 3), object)),
}


@pytest.mark.parametrize("reason", CASES)
def test_bad_camera_is_masked_with_a_reason(reason: str) -> None:
    obs = good(np.random.default_rng(0))
    CASES[reason](obs)
    _, verdict = guard().act(obs)
    assert verdict.reasons == {"camera": reason}
    assert verdict.trusted_sensors == ("speed",)


@pytest.mark.parametrize(
    ("value", "reason"),
    [(np.nan, "not finite"), (np.inf, "not finite"), (11.0, "outside its range -10..10"), (10.001, None)],
)
def test_values(value: float, reason: str | None) -> None:
    obs = good(np.random.default_rng(0))
    obs["speed"][1] = value
    _, verdict = guard().act(obs)
    assert verdict.reasons == ({} if reason is None else {"speed": reason})


def test_range_check_can_be_switched_off() -> None:
    obs = good(np.random.default_rng(0))
    obs["speed"][1] = 11.0
    assert guard(health=Health(range=False)).act(obs)[1].reasons == {}


@pytest.mark.parametrize("kinds", [("int64", "float64"), ("uint16", ">f4"), (">i4", "float16"), ("int16", "float32")])
def test_numbers_of_another_width_are_taken_when_they_fit(kinds: tuple[str, str]) -> None:
    obs = good(np.random.default_rng(0))
    obs["speed"] = np.array([0.5, -1.0], np.float32)
    plain, wide = guard(), guard()
    plain.act(obs)
    _, verdict = wide.act({"camera": obs["camera"].astype(kinds[0]), "speed": obs["speed"].astype(kinds[1])})
    assert verdict.reasons == {}
    assert torch.equal(plain.belief.stoch, wide.belief.stoch)


def test_one_row_cannot_blind_another() -> None:
    obs = tiny.batch(SENSORS, 3, np.random.default_rng(0))
    camera = obs["camera"].astype(np.int64)
    camera[1, 0, 0, 0] = -1
    _, verdict = guard(rows=3).act({**obs, "camera": camera})
    assert verdict.reasons == [{}, {"camera": "int64 values instead of uint8"}, {}]


def test_readings_under_a_mask_are_missing_for_one_environment_too() -> None:
    obs = good(np.random.default_rng(0))
    hidden = np.ma.masked_array(obs["camera"], np.ones(obs["camera"].shape, bool))
    assert guard().act({**obs, "camera": hidden})[1].reasons == {"camera": "missing"}
    assert guard(rows=1).act([{**obs, "camera": hidden}])[1].reasons == [{"camera": "missing"}]


def test_patience_with_frozen_streams_can_differ_by_sensor() -> None:
    obs, watch = good(np.random.default_rng(0)), guard(health=Health(frozen_after={"camera": 1}))
    watch.act(obs)
    assert watch.act(obs)[1].reasons == {"camera": "frozen for 1 steps"}
    with pytest.raises(ValueError, match="radar"):
        guard(health=Health(frozen_after={"radar": 3}))


def test_frozen_stream_is_masked_after_k_repeats_and_comes_back() -> None:
    rng, watch = np.random.default_rng(0), guard(health=Health(frozen_after=2))
    still, seen = tiny.reading(CAMERA, rng), []
    for step in range(7):
        obs = good(rng)
        if 1 <= step < 5:
            obs["camera"] = still
        seen.append(watch.act(obs)[1].reasons.get("camera"))
    assert seen == [None, None, None, "frozen for 2 steps", "frozen for 2 steps", None, None]


def test_frozen_is_found_when_the_environment_reuses_its_buffer() -> None:
    rng, watch = np.random.default_rng(0), guard(health=Health(frozen_after=1))
    buffer = good(rng)
    for _ in range(3):
        buffer["camera"][:] = tiny.reading(CAMERA, rng)
        buffer["speed"][:] = rng.uniform(-1, 1, 2)
        assert watch.act(buffer)[1].reasons == {}


def test_frozen_count_is_cleared_at_episode_start() -> None:
    obs, watch = good(np.random.default_rng(0)), guard(health=Health(frozen_after=2))
    reasons = [watch.act(obs, first=step == 2)[1].reasons for step in range(4)]
    assert reasons == [{}, {}, {}, {}]


def test_old_readings_are_masked() -> None:
    obs, watch = good(np.random.default_rng(0)), guard(health=Health(max_age=0.2))
    assert watch.act(obs, ages={"camera": 0.1})[1].reasons == {}
    assert watch.act(obs, ages={"camera": 0.3, "speed": np.nan})[1].reasons == dict.fromkeys(
        ("camera", "speed"), "older than 0.2"
    )


def test_missing_in_some_rows_of_a_batch() -> None:
    """Three ways to say it: a masked array, a list with None, and one mapping per row."""
    rng = np.random.default_rng(0)
    obs = tiny.batch(SENSORS, 3, rng)
    mask = np.zeros(obs["camera"].shape, bool)
    mask[1] = True
    rows = [{name: value[i] for name, value in obs.items()} for i in range(3)]
    del rows[1]["camera"]
    spellings = [
        {**obs, "camera": np.ma.masked_array(obs["camera"], mask)},
        {**obs, "camera": [obs["camera"][0], None, obs["camera"][2]]},
        rows,
    ]
    for spelling in spellings:
        _, verdict = guard(rows=3).act(spelling)
        assert verdict.reasons == [{}, {"camera": "missing"}, {}]
        assert verdict.trusted.tolist() == [[True, True], [False, True], [True, True]]


def test_unhealthy_means_masked_exactly() -> None:
    """A missing sensor gives the belief of a sensor that reads zero: the mask value of the paper."""
    obs = good(np.random.default_rng(0))
    missing, black = guard(), guard()
    missing.act({"speed": obs["speed"]})
    black.act({**obs, "camera": np.zeros((16, 16, 3), np.uint8)})
    torch.testing.assert_close(missing.belief.deter, black.belief.deter)
    assert torch.equal(missing.belief.stoch, black.belief.stoch)


def test_observations_are_never_written_to() -> None:
    obs = tiny.batch(SENSORS, 2, np.random.default_rng(0))
    obs["speed"][0] = np.nan
    before = {name: value.copy() for name, value in obs.items()}
    guard(rows=2).act(obs)
    for name, value in obs.items():
        assert np.array_equal(value, before[name], equal_nan=name == "speed")


def test_the_language_of_the_answer_survives_the_loss_of_all_sensors() -> None:
    obs = tiny.batch(SENSORS, 2, np.random.default_rng(0))
    seen = []
    watch = guard(rows=2, blind_limit=0, fallback=lambda verdict: seen.append(type(verdict.trusted)) or 1)
    watch.act(tiny.tensors(obs))
    action, verdict = watch.act({})
    assert isinstance(action, torch.Tensor)
    assert isinstance(verdict.trusted, torch.Tensor)
    action, _ = watch.act(obs)
    assert isinstance(action, np.ndarray)
    watch.act(None)
    assert seen == [torch.Tensor] * 2 + [np.ndarray] * 2, "the fallback is spoken to in the same language"


def test_torch_in_torch_out_and_numpy_in_numpy_out() -> None:
    obs = tiny.batch(SENSORS, 2, np.random.default_rng(0))
    action, verdict = guard(rows=2).act(tiny.tensors(obs))
    assert all(isinstance(x, torch.Tensor) for x in (action, verdict.mode, verdict.trusted, verdict.surprise))
    again, plain = guard(rows=2).act(obs)
    assert all(isinstance(x, np.ndarray) for x in (again, plain.mode, plain.trusted, plain.surprise))
    assert np.array_equal(action.numpy(), again)
