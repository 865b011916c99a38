"""A vector environment of eight rows equals eight single ones, byte for byte, in every autoreset mode."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.faults.noise import noise, noise_rows
from tests.faults.test_wrapper_single import broken, play
from wiser.faults import FAULTS, SensorFaults, VectorSensorFaults, absent_rows

ROWS = 8
LENGTHS = (4, 5, 6, 7, 8, 9, 10, 11)  # rows end at different times


def vector_of(lengths, mode, scenario):
    env = noise_rows(len(lengths), mode)
    for inner, length in zip(env.envs, lengths, strict=True):
        inner.unwrapped.ends = ((length, "dies"),)
    return SensorFaults(env, scenario)


def single_histories(scenario, episodes):
    """For each row the list of (obs, info) of some episodes, from single environments."""
    envs = [SensorFaults(noise(length), scenario, row=row) for row, length in enumerate(LENGTHS)]
    return [play(env, episodes, seed=row) for row, env in enumerate(envs)]


def assert_row_equals(obs, info, row, single):
    single_obs, single_info = single
    np.testing.assert_array_equal(info["broken_sensors"][row], single_info["broken_sensors"])
    np.testing.assert_array_equal(info["fault_intensity"][row], single_info["fault_intensity"])
    for name in ("front", "depth", "speed", "imu", "gear"):
        present = name in obs and not absent_rows(obs[name])[row]
        assert present == (name in single_obs)
        if present:
            assert np.asarray(obs[name][row]).tobytes() == np.asarray(single_obs[name], obs[name].dtype).tobytes()


@pytest.mark.parametrize("name", FAULTS)
def test_next_step_rows_equal_single_environments(name):
    scenario = broken(name, sensors=1, intensity=0.7, onset=1, proportion=0.8)
    histories = single_histories(scenario, episodes=4)
    env = vector_of(LENGTHS, AutoresetMode.NEXT_STEP, scenario)
    assert isinstance(env, VectorSensorFaults)
    obs, info = env.reset(seed=0)
    for step in range(20):
        for row in range(ROWS):
            assert_row_equals(obs, info, row, histories[row][step])
        obs, _, _, _, info = env.step(np.zeros(ROWS, int))


@pytest.mark.parametrize("name", ["gaussian", "lag", "freeze", "drift", "missing"])
def test_same_step_rows_equal_single_environments(name):
    scenario = broken(name, sensors=2, intensity=0.7, onset=1, proportion=0.8)
    histories = single_histories(scenario, episodes=5)
    cursors = np.zeros(ROWS, int)
    env = vector_of(LENGTHS, AutoresetMode.SAME_STEP, scenario)
    obs, info = env.reset(seed=0)
    for _ in range(20):
        for row in range(ROWS):
            assert_row_equals(obs, info, row, histories[row][cursors[row]])
        obs, _, terminated, _, info = env.step(np.zeros(ROWS, int))
        cursors += 1
        for row in np.flatnonzero(terminated):
            final = {key: np.asarray(value)[None] for key, value in info["final_obs"][row].items()}
            truth = {key: info["final_info"][key][[row]] for key in ("broken_sensors", "fault_intensity")}
            assert_row_equals(final, truth, 0, histories[row][cursors[row]])
            assert info["final_info"]["_broken_sensors"][row]
            cursors[row] += 1


@pytest.mark.parametrize("name", ["salt", "lag", "freeze", "drift", "missing"])
def test_disabled_with_reset_mask_rows_equal_single_environments(name):
    scenario = broken(name, sensors=2, intensity=0.7, onset=1, proportion=0.8)
    histories = single_histories(scenario, episodes=5)
    cursors = np.zeros(ROWS, int)
    env = vector_of(LENGTHS, AutoresetMode.DISABLED, scenario)
    obs, info = env.reset(seed=0)
    for _ in range(20):
        for row in range(ROWS):
            assert_row_equals(obs, info, row, histories[row][cursors[row]])
        obs, _, terminated, _, info = env.step(np.zeros(ROWS, int))
        cursors += 1
        if terminated.any():
            # Rows that go on show their last frame again: still broken, and not a step older.
            obs, info = env.reset(options={"reset_mask": terminated.copy()})
            cursors += terminated


def test_missing_in_some_rows_is_masked_and_in_all_rows_absent():
    env = SensorFaults(noise_rows(4), broken("missing", intensity=1.0, onset=100))
    env.reset(seed=0)
    env.break_sensor("front", "missing", row=2)
    obs = env.step(np.zeros(4, int))[0]
    np.testing.assert_array_equal(absent_rows(obs["front"]), [False, False, True, False])
    assert not obs["front"].data[2].any()
    env.break_sensor("front", "missing")
    assert "front" not in env.step(np.zeros(4, int))[0]


def test_untouched_sensors_are_passed_on_and_the_environment_keeps_its_arrays():
    inner = noise_rows(3)
    env = SensorFaults(inner, broken("glare"))
    obs, _ = env.reset(seed=0)
    assert obs["depth"] is inner._observations["depth"]
    assert (obs["front"] == 255).all()
    assert not (inner._observations["front"] == 255).all()


def test_wrappers_can_be_stacked():
    inner = SensorFaults(noise_rows(3), broken("missing", intensity=0.5))
    env = SensorFaults(inner, broken("glare", intensity=1.0))
    obs, _ = env.reset(seed=0)
    for _ in range(8):
        if "front" in obs:
            present = ~absent_rows(obs["front"])
            assert (np.ma.getdata(obs["front"])[present] == 255).all()
        obs = env.step(np.zeros(3, int))[0]


def test_info_follows_the_convention_of_vector_environments():
    _, info = SensorFaults(noise_rows(3), broken("glare", intensity=0.5)).reset(seed=0)
    assert info["broken_sensors"].shape == info["fault_intensity"].shape == (3, 4)
    assert info["_broken_sensors"].all()
    np.testing.assert_array_equal(info["fault_intensity"], [[0, 0.5, 0, 0]] * 3)


def test_a_vector_environment_must_state_its_autoreset_mode():
    env = noise_rows(2)
    env.metadata = {}
    with pytest.raises(ValueError, match="autoreset_mode"):
        SensorFaults(env, broken("glare"))
