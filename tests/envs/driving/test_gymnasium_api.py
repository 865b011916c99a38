"""The worlds are ordinary Gymnasium environments."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from wiser.envs.driving.env import DrivingEnv, DrivingVectorEnv
from wiser.envs.driving.sensors.suite import SENSORS
from wiser.envs.driving.tasks import TASKS


@pytest.mark.parametrize("name", [f"wiser/{task}-v0" for task in TASKS])
def test_check_env_is_content(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(name, render_mode="rgb_array", size=32).unwrapped
        check_env(env)


@pytest.mark.parametrize("continuous", [False, True])
def test_make_vec_steps_a_batch(continuous):
    env = gymnasium.make_vec(
        "wiser/FourLane-v0", num_envs=3, vectorization_mode="vector_entry_point", size=32, continuous=continuous
    )
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    env.action_space.seed(0)
    for _ in range(5):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation)
        assert reward.shape == terminated.shape == truncated.shape == (3,)
        assert info["speed"].shape == (3,)
        np.testing.assert_allclose(sum(info["reward_terms"].values()), reward)


def test_autoreset_is_stated_and_happens_in_the_next_step():
    env = DrivingVectorEnv(2, "StopSign", size=32)
    assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    env.reset(seed=0)
    left = np.array([14, 12])  # full throttle to the left; the other one waits
    for _ in range(100):
        _, _, terminated, _, _ = env.step(left)
        if terminated[0]:
            break
    assert terminated.tolist() == [True, False]
    observation, reward, terminated, truncated, info = env.step(left)
    assert reward[0] == 0.0
    assert not terminated[0]
    assert not truncated[0]
    assert info["_speed"].tolist() == [False, True]
    assert env.world.progress.steps.tolist()[0] == 0
    assert observation["camera"].shape == (2, 32, 32, 3)


def test_sensors_and_size_can_be_chosen():
    env = DrivingEnv("RightTurn", sensors=("birdeye_wpt", "collision"), size=48)
    observation, _ = env.reset(seed=0)
    assert list(observation) == ["birdeye_wpt", "collision"]
    assert observation["birdeye_wpt"].shape == (48, 48, 3)
    assert observation["collision"].dtype == np.float32
    with pytest.raises(ValueError, match="no sensor called"):
        DrivingEnv(sensors=("radar",))


def test_observations_are_the_callers_to_keep():
    env = DrivingEnv("FourLane", size=32)
    first, _ = env.reset(seed=0)
    kept = {name: value.copy() for name, value in first.items()}
    env.step(12)
    for name in SENSORS:
        np.testing.assert_array_equal(first[name], kept[name])


def test_info_says_what_happened():
    env = DrivingEnv("FourLane", size=32)
    env.reset(seed=0)
    *_, info = env.step(12)
    assert {"reward_terms", "success", "collision", "off_route", "stop_violation", "speed", "ttc"} <= set(info)
    assert set(info["reward_terms"]) == {"waypoint", "speed", "collision", "lateral", "destination", "stop"}


def test_action_numbers_mean_what_they_say():
    env = DrivingEnv("FourLane", size=32, cars=0)
    env.reset(seed=0)
    for _ in range(5):
        env.step(12)  # 12 // 5 = 2: accelerate; 12 % 5 = 2: straight on
    world = env.batch.world
    assert world.ego[0, 3] == pytest.approx(1.0)
    yaw = world.ego[0, 2]
    env.step(14)  # steering +0.6 is to the left, which is anticlockwise: yaw falls
    assert world.ego[0, 2] < yaw
    env.step(0)
    assert world.ego[0, 3] == pytest.approx(1.0)


def test_the_picture_for_people():
    env = DrivingEnv("StopSign", render_mode="rgb_array", sensors=("collision",))
    env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (540, 960, 3)
    assert picture.dtype == np.uint8
    assert picture.std() > 20


def test_a_finished_episode_must_be_reset() -> None:
    env = DrivingEnv("StopSign", sensors=("collision",))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(7)
    env.reset(seed=0)
    over = False
    while not over:
        _, _, terminated, truncated, _ = env.step(14)  # full throttle, hard left
        over = terminated or truncated
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(7)
    env.reset()
    env.step(7)
