"""SensorFaults around a single environment: right steps, right sensors, truth in info only, rebuilt from arguments."""

import copy

import gymnasium as gym
import numpy as np
import pytest

from tests.fake_world import NOISE
from tests.faults.noise import SENSORS, noise
from wiser.faults import APPLIES, FAULTS, Scenario, SensorFaults


def play(env, episodes=1, seed=0):
    """All observations and infos of some episodes."""
    seen = []
    for episode in range(episodes):
        seen.append(env.reset(seed=seed if episode == 0 else None))
        done = False
        while not done:
            obs, _, terminated, truncated, info = env.step(0)
            seen.append((obs, info))
            done = terminated or truncated
    return seen


def broken(name, **changes):
    return Scenario(**{"faults": (name,), "sensors": ("front",), **changes})


def test_only_the_named_sensor_breaks_and_only_from_onset_on():
    clean = play(noise())
    env = SensorFaults(noise(), broken("blackout", onset=3))
    assert env.sensor_names == SENSORS
    for step, ((obs, info), (truth, _)) in enumerate(zip(play(env), clean, strict=True)):
        assert set(obs) == set(truth)
        for name in ("depth", "speed", "imu", "gear"):
            np.testing.assert_array_equal(obs[name], truth[name])
        np.testing.assert_array_equal(obs["front"], truth["front"] * (step < 3))
        np.testing.assert_array_equal(info["broken_sensors"], [False, step >= 3, False, False])
        np.testing.assert_array_equal(info["fault_intensity"], [0, float(step >= 3), 0, 0])


def test_the_first_frame_breaks_if_onset_is_zero():
    obs, info = SensorFaults(noise(), broken("blackout")).reset(seed=0)
    assert not obs["front"].any()
    assert info["broken_sensors"][1]


@pytest.mark.parametrize("name", FAULTS)
def test_intensity_zero_is_the_bare_environment(name):
    env = SensorFaults(noise(), broken(name, intensity=0.0))
    for (obs, info), (truth, _) in zip(play(env), play(noise()), strict=True):
        for key in truth:
            np.testing.assert_array_equal(obs[key], truth[key])
        assert not info["broken_sensors"].any()


@pytest.mark.parametrize("name", FAULTS)
def test_the_environment_keeps_its_own_arrays(name):
    inner = noise()
    env = SensorFaults(inner, broken(name, onset=1))
    obs, _ = env.reset(seed=0)
    for _ in range(5):
        assert obs["depth"] is inner.last["depth"]  # untouched sensors are not even copied
        obs = env.step(0)[0]
        assert "front" in inner.last
        if "front" in obs:
            assert not np.shares_memory(obs["front"], inner.last["front"])
    twin = noise()
    twin.reset(seed=0)
    for _ in range(5):
        twin.step(0)
    np.testing.assert_array_equal(inner.last["front"], twin.last["front"])


def test_a_missing_sensor_is_absent():
    for step, (obs, info) in enumerate(play(SensorFaults(noise(), broken("missing", onset=2)))):
        assert ("front" in obs) == (step < 2)
        assert info["broken_sensors"][1] == (step >= 2)


def test_combinations_are_applied_in_order():
    obs, _ = SensorFaults(noise(), broken("blackout", faults=("blackout", "glare"))).reset(seed=0)
    assert (obs["front"] == 255).all()
    obs, _ = SensorFaults(noise(), broken("glare", faults=("glare", "blackout"))).reset(seed=0)
    assert not obs["front"].any()
    obs, _ = SensorFaults(noise(), broken("glare", faults=("missing", "glare"))).reset(seed=0)
    assert "front" not in obs


def test_vectors_break_within_their_range():
    low, high = np.array([-1, 0]), np.array([1, 100])
    for name in APPLIES["vector"]:
        env = SensorFaults(noise(), Scenario(faults=(name,), sensors=("speed", "imu"), intensity=0.7))
        for obs, _ in play(env):
            if name != "nonfinite" and "speed" in obs:
                assert np.all((obs["speed"] >= low) & (obs["speed"] <= high))
                assert obs["speed"].dtype == np.float32


def test_drawn_sensors_stay_for_the_episode_and_change_between_episodes():
    env = SensorFaults(noise(), broken("gaussian", sensors=2, intensity=0.5))
    sets = [tuple(info["broken_sensors"]) for _, info in play(env, episodes=30)]
    length = len(sets) // 30
    episodes = [sets[start : start + length] for start in range(0, len(sets), length)]
    assert all(len(set(episode)) == 1 and sum(episode[0]) == 2 for episode in episodes)
    assert len({episode[0] for episode in episodes}) == 6


def test_only_sensors_that_can_fail_so_are_drawn():
    env = SensorFaults(noise(), broken("chrome", sensors=2))
    assert all(tuple(info["broken_sensors"]) == (True, True, False, False) for _, info in play(env, episodes=3))
    with pytest.raises(ValueError, match="breaks 3 sensors, but chrome can only break depth, front here"):
        SensorFaults(noise(), broken("chrome", sensors=3))


def test_mistakes_are_named_at_construction():
    with pytest.raises(ValueError, match="no sensor 'rear' in this environment; there are depth, front, imu, speed"):
        SensorFaults(noise(), broken("glare", sensors=("rear",)))
    with pytest.raises(ValueError, match="no sensor 'gear'"):
        SensorFaults(noise(), broken("glare", sensors=("gear",)))
    with pytest.raises(ValueError, match="'blur' breaks image sensors, not a vector"):
        SensorFaults(noise(), broken("blur", sensors=("imu",)))
    with pytest.raises(TypeError, match="Dict observation space"):
        SensorFaults(gym.make("CartPole-v1"), broken("glare"))


@pytest.mark.parametrize("through_json", [False, True])
def test_rebuilt_from_its_arguments(through_json):
    env = SensorFaults(gym.make(NOISE), broken("gaussian", proportion=0.5, seed=3), row=2)
    spec = gym.envs.registration.EnvSpec.from_json(env.spec.to_json()) if through_json else env.spec
    again = gym.make(spec)
    assert isinstance(again, SensorFaults)
    assert again.scenario == env.scenario
    for (first, _), (second, _) in zip(play(env), play(again), strict=True):
        np.testing.assert_array_equal(first["front"], second["front"])


def test_it_can_be_copied():
    env = SensorFaults(noise(), broken("lag", intensity=0.1))
    env.reset(seed=0)
    twin = copy.deepcopy(env)
    for _ in range(4):
        np.testing.assert_array_equal(env.step(0)[0]["front"], twin.step(0)[0]["front"])
