"""Breaking and healing by hand: from the next observation on, told in info, without disturbing the scenario."""

import numpy as np
import pytest

from tests.faults.noise import noise, noise_rows
from tests.faults.test_wrapper_single import broken
from wiser.faults import SensorFaults

QUIET = broken("glare", onset=10_000)
ACT = np.zeros(3, int)


def test_break_and_heal_one_row():
    env = SensorFaults(noise_rows(3), QUIET)
    env.reset(seed=0)
    env.break_sensor("front", "blackout", 1.0, row=1)
    obs, *_, info = env.step(ACT)
    assert [frame.any() for frame in obs["front"]] == [True, False, True]
    np.testing.assert_array_equal(info["broken_sensors"][:, 1], [False, True, False])
    env.heal_sensor("front", row=1)
    obs, *_, info = env.step(ACT)
    assert all(frame.any() for frame in obs["front"])
    assert not info["broken_sensors"].any()


def test_it_works_before_reset_and_stays_across_episodes_until_healed():
    env = SensorFaults(noise(), QUIET)
    env.break_sensor("front", "blackout")
    for seed in range(2):
        assert not env.reset(seed=seed)[0]["front"].any()
        assert not env.step(0)[0]["front"].any()
    env.heal_sensor()
    assert env.step(0)[0]["front"].any()
    assert env.reset(seed=3)[0]["front"].any()


def test_faults_add_up_and_intensities_can_be_changed():
    env = SensorFaults(noise(), QUIET)
    env.reset(seed=0)
    env.break_sensor("front", "blackout", 1.0)
    env.break_sensor("front", "glare", 0.5)
    obs, *_, info = env.step(0)
    assert set(np.unique(obs["front"])) <= {127, 128}
    assert info["fault_intensity"][1] == 1.0
    env.break_sensor("front", "glare", 1.0)
    assert (env.step(0)[0]["front"] == 255).all()


def test_healing_overrules_the_scenario_until_the_next_episode():
    env = SensorFaults(noise(), broken("blackout"))
    assert not env.reset(seed=0)[0]["front"].any()
    env.heal_sensor("front")
    obs, *_, info = env.step(0)
    assert obs["front"].any()
    assert not info["broken_sensors"].any()
    assert not env.reset(seed=0)[0]["front"].any()


def test_the_scenario_draws_the_same_numbers_whatever_is_done_by_hand():
    plain, touched = (SensorFaults(noise(), broken("gaussian", proportion=0.5)) for _ in range(2))
    plain.reset(seed=0)
    touched.reset(seed=0)
    touched.break_sensor("depth", "gaussian")
    for _ in range(8):
        np.testing.assert_array_equal(plain.step(0)[0]["front"], touched.step(0)[0]["front"])


def test_mistakes_are_named():
    env = SensorFaults(noise_rows(3), QUIET)
    with pytest.raises(ValueError, match="no sensor 'rear'"):
        env.break_sensor("rear", "glare")
    with pytest.raises(ValueError, match="no sensor 'rear'"):
        env.heal_sensor("rear")
    with pytest.raises(ValueError, match="'blur' breaks image sensors"):
        env.break_sensor("imu", "blur")
    with pytest.raises(ValueError, match="unknown fault"):
        env.break_sensor("imu", "fog")
    with pytest.raises(ValueError, match="above 0"):
        env.break_sensor("front", "glare", 0.0)
    with pytest.raises(ValueError, match="no row 3"):
        env.break_sensor("front", "glare", row=3)
