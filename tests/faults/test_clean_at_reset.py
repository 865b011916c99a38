"""Nothing leaks from one episode into the next: no old frames, no drift, no freeze, no schedule."""

import numpy as np
import pytest

from tests.faults.data import STREAMS
from tests.faults.noise import noise, noise_rows
from tests.faults.test_wrapper_single import broken
from wiser.faults import SensorFaults


def run(env, steps):
    return [env.step(0)[0] for _ in range(steps)]


@pytest.mark.parametrize("name", STREAMS)
def test_an_episode_does_not_depend_on_how_the_last_one_went(name):
    scenario = broken(name, intensity=0.6)
    short, long = SensorFaults(noise(), scenario), SensorFaults(noise(), scenario)
    for env, steps in ((short, 1), (long, 8)):
        env.reset(seed=1)
        run(env, steps)
    first, second = ([env.reset(seed=2)[0], *run(env, 8)] for env in (short, long))
    for one, other in zip(first, second, strict=True):
        assert ("front" in one) == ("front" in other)
        if "front" in one:
            np.testing.assert_array_equal(one["front"], other["front"])


@pytest.mark.parametrize("name", ["lag", "freeze"])
def test_the_first_frame_of_an_episode_is_never_an_old_one(name):
    inner = noise()
    env = SensorFaults(inner, broken(name))
    for seed in range(3):
        obs, _ = env.reset(seed=seed)
        np.testing.assert_array_equal(obs["front"], inner.last["front"])
        start = obs["front"]
        for later in run(env, 5):
            np.testing.assert_array_equal(later["front"], start)


def test_drift_starts_at_zero_again():
    inner = noise()
    env = SensorFaults(inner, broken("drift", sensors=("imu",)))
    for seed in range(2):
        obs, _ = env.reset(seed=seed)
        for age in range(1, 9):
            np.testing.assert_allclose(np.abs(obs["imu"] - inner.last["imu"]), 0.01 * age)
            obs = env.step(0)[0]


def test_onset_counts_from_each_reset():
    env = SensorFaults(noise_rows(2, length=5), broken("blackout", onset=3))
    env.reset(seed=0)
    seen = [env.step(np.zeros(2, int))[4]["broken_sensors"][:, 1].tolist() for _ in range(11)]
    one_episode = [False, False, False, True, True, True]
    assert seen == [[now, now] for now in (one_episode * 2)[1:]]
