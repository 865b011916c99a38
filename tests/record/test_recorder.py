"""The recorder takes what environments and guards hand out: numpy and torch, one row and many, whole and broken."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.record.runs import ONSET, SENSORS, record, verdict
from tests.tiny import batch, model, observation, tensors
from wiser.guard import Calibration, Guard
from wiser.record import About, Recorder, broken_now
from wiser.record.step import VIEW_WIDTH, take_readings

TRUST_ALL = (True, True, True)


def recorder(**options: object) -> Recorder:
    return Recorder(SENSORS, ["only"], About("A test"), **options)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_what_goes_in_comes_out(rng):
    recording_to, obs = recorder(), observation(SENSORS, rng)
    recording_to.add("only", obs, verdict((True, False, True)), reward=2.5, broken={"lidar": ("lag", 0.5)})
    recording_to.add("only", obs, verdict(TRUST_ALL), reward=-1.0, outcome="arrived")
    lane = recording_to.recording().lane("only")
    for name, value in obs.items():
        np.testing.assert_array_equal(lane.readings[name][0], value)
    assert lane.trusted.tolist() == [[True, False, True], [True, True, True]]
    assert lane.reason[0].tolist() == ["", "more surprising than without it", ""]
    assert lane.fault.tolist() == [["", "lag", ""], ["", "", ""]]
    assert lane.intensity[0].tolist() == [0.0, 0.5, 0.0]
    assert lane.measure.tolist() == [2.5, 1.5]
    assert lane.outcome == "arrived"
    assert lane.scores["isolated_surprise"].shape == (2, 3)
    assert len(lane) == 2


def test_rows_of_a_batch_equal_single_environments(rng):
    agent, obs = model(SENSORS), batch(SENSORS, 3, rng)
    many, one = Guard(agent, rows=3), Guard(agent, seed=1)
    lanes = Recorder(SENSORS, ["batch", "single"], About("A test"))
    _, verdicts = many.act(obs)
    rewards = np.array([1.0, 2.0, 3.0])
    lanes.add("batch", obs, verdicts, row=1, reward=rewards, prediction=agent.decode(many.belief))
    alone = {name: value[1] for name, value in obs.items()}
    _, single = one.act(alone)
    lanes.add("single", alone, single, reward=2.0, prediction=agent.decode(one.belief))
    first, second = lanes.recording().lanes
    for name in obs:
        np.testing.assert_array_equal(first.readings[name], second.readings[name])
        assert first.predictions[name].shape == second.predictions[name].shape
    np.testing.assert_array_equal(first.trusted, second.trusted)
    np.testing.assert_allclose(first.surprise, second.surprise, rtol=1e-4)
    assert first.reward.tolist() == [2.0]


def test_torch_is_recorded_like_numpy(rng):
    agent, obs = model(SENSORS), observation(SENSORS, rng)
    lanes = Recorder(SENSORS, ["numpy", "torch"], About("A test"))
    for lane, seen in (("numpy", obs), ("torch", tensors(obs))):
        lanes.add(lane, seen, Guard(agent).act(seen)[1])
    first, second = lanes.recording().lanes
    np.testing.assert_array_equal(first.readings["camera"], second.readings["camera"])
    np.testing.assert_array_equal(first.trusted, second.trusted)


@pytest.mark.parametrize(
    "spoilt", [None, np.zeros((2, 2)), "text", [[1], [2, 3]], object(), np.ma.masked_all((32, 32, 3), np.uint8)]
)
def test_readings_nobody_can_use_are_absent(rng, spoilt):
    recording_to = recorder()
    recording_to.add("only", {**observation(SENSORS, rng), "camera": spoilt}, verdict(TRUST_ALL))
    recording_to.add("only", "no observation at all", verdict(TRUST_ALL))
    lane = recording_to.recording().lane("only")
    assert lane.present.tolist() == [[False, True, True], [False, False, False]]
    assert not lane.readings["camera"].any()


def test_masked_rows_of_a_batch_are_absent(rng):
    stacked = np.ma.array(rng.integers(0, 256, (2, 32, 32, 3), dtype=np.uint8))
    stacked[1] = np.ma.masked
    assert take_readings(SENSORS, {"camera": stacked}, row=0)["camera"] is not None
    assert take_readings(SENSORS, {"camera": stacked}, row=1)["camera"] is None
    assert take_readings(SENSORS, [{}, {"camera": stacked[0]}], row=1)["camera"] is not None


def test_the_environment_may_reuse_its_buffers(rng):
    recording_to, obs = recorder(), observation(SENSORS, rng)
    before = obs["camera"].copy()
    recording_to.add("only", obs, verdict(TRUST_ALL), view=obs["camera"])
    obs["camera"][:] = 0
    lane = recording_to.recording().lane("only")
    np.testing.assert_array_equal(lane.readings["camera"][0], before)
    np.testing.assert_array_equal(lane.view[0], before)


def test_float_images_are_stored_as_bytes():
    recording_to = recorder()
    values = torch.tensor([0.0, 1.0, 2.0, -1.0, float("nan"), 0.5]).repeat(512).reshape(32, 32, 3)
    recording_to.add("only", {"camera": values}, verdict(TRUST_ALL))
    assert set(recording_to.recording().lane("only").readings["camera"].ravel().tolist()) == {0, 128, 255}


def test_large_views_are_made_smaller(rng):
    recording_to = recorder()
    recording_to.add("only", {}, verdict(TRUST_ALL), view=np.zeros((540, 960, 3), np.uint8))
    assert recording_to.recording().lane("only").view.shape == (1, 225, VIEW_WIDTH, 3)


def test_a_calibration_becomes_bands(rng):
    calibration = Calibration.of({"surprise": np.arange(101.0), "isolated_surprise/camera": np.ones(5)})
    recording_to = recorder(calibration=calibration)
    recording_to.add("only", {}, verdict(TRUST_ALL))
    assert recording_to.recording().bands == {"surprise": (1.0, 99.0), "isolated_surprise/camera": (1.0, 1.0)}


def test_broken_now_reads_the_truth_of_the_wrapper():
    assert broken_now(("a", "b"), np.array([0.0, 0.75], np.float32), "glare") == {"b": ("glare", 0.75)}


def test_scores_that_come_and_go_are_nan_in_between():
    recording_to = recorder()
    recording_to.add("only", {}, verdict(TRUST_ALL))
    recording_to.add("only", {}, verdict(TRUST_ALL, scores={"score": 3.0}))
    scores = recording_to.recording().lane("only").scores
    assert np.isnan(scores["isolated_surprise"][1]).all()
    assert np.isnan(scores["score"][0])
    assert scores["score"][1] == 3.0


def test_mistakes_are_named():
    recording_to = recorder()
    with pytest.raises(ValueError, match="nothing was recorded in 'only'"):
        recording_to.recording()
    with pytest.raises(ValueError, match="no lane 'other'"):
        recording_to.add("other", {}, verdict(TRUST_ALL))
    with pytest.raises(ValueError, match=r"broken sensors \['radar'\] are unknown"):
        recording_to.add("only", {}, verdict(TRUST_ALL), broken={"radar": ("lag", 1.0)})
    with pytest.raises(ValueError, match="a view is"):
        recording_to.add("only", {}, verdict(TRUST_ALL), view=np.zeros((4, 4)))
    with pytest.raises(ValueError, match="predictions of camera"):
        recording_to.add("only", {}, verdict(TRUST_ALL), prediction={"camera": np.zeros(3)})
    with pytest.raises(ValueError, match="say which with row"):
        recording_to.add("only", {}, replace(verdict(TRUST_ALL), trusted=np.ones((2, 3), bool)))
    recording_to.add("only", {}, verdict(TRUST_ALL), outcome="arrived")
    with pytest.raises(ValueError, match="lane 'only' is over: arrived"):
        recording_to.add("only", {}, verdict(TRUST_ALL))
    with pytest.raises(KeyError, match="there are 'only'"):
        recording_to.recording().lane("other")


def test_a_view_for_some_steps_only_is_refused():
    recording_to = recorder()
    recording_to.add("only", {}, verdict(TRUST_ALL))
    with pytest.raises(ValueError, match="with every step or with none"):
        recording_to.add("only", {}, verdict(TRUST_ALL), view=np.zeros((4, 4, 3), np.uint8))


def test_lanes_may_differ_in_length():
    recording = record(steps=ONSET)
    assert [len(lane) for lane in recording.lanes] == [ONSET, ONSET - 1, ONSET - 2]
    assert recording.steps == ONSET


def test_a_limit_forgets_the_oldest_steps_of_all_lanes_alike():
    both = Recorder(SENSORS, ["short", "long"], About("A test"), limit=4)
    for step in range(8):
        for lane in ("short", "long") if step < 6 else ("long",):
            both.add(lane, {}, verdict(TRUST_ALL), measure=step)
    assert [lane.measure.tolist() for lane in both.recording().lanes] == [[4, 5], [4, 5, 6, 7]]
