"""Whole episodes through the CARLA backend, on doubles that carry the client library's value types."""

import gc
import math
import warnings

import carla
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tests.envs.driving.carla_backend.carla_doubles import Client, Server
from wiser.envs.driving.carla_backend.backend import to_control
from wiser.envs.driving.carla_backend.env import CarlaEnv
from wiser.envs.driving.carla_backend.server import CarlaError
from wiser.envs.driving.env import DrivingEnv
from wiser.envs.driving.sensors.suite import SENSORS
from wiser.envs.driving.tasks import STOP_STEPS, TASKS, TIME_LIMIT

COAST, GO, BRAKE = 7, 12, 2


def make(name, **options):
    server = Server(TASKS[name].road_map())
    return server, CarlaEnv(name, size=32, camera_pixels=32, make_client=server, timeout=0.5, **options)


def clean(server):
    """Nothing of ours is left on the server."""
    return not server.actors and not server.settings.synchronous_mode and server.log[-2:] == LAST


LAST = [("traffic", False), ("settings", False)]


@pytest.mark.parametrize("name", TASKS)
def test_the_scripted_driver_solves_the_task(name):
    server, env = make(name)
    env.reset(seed=1)
    steps, done = 0, False
    while not done:
        _, _, terminated, truncated, info = env.step(env.expert_action())
        steps, done = steps + 1, terminated or truncated
    assert info["success"], info
    assert not info["collision"]
    assert steps <= TIME_LIMIT
    env.close()
    assert clean(server)


@pytest.mark.parametrize("name", TASKS)
def test_an_ordinary_environment_like_the_embedded_one(name):
    server = Server(TASKS[name].road_map())
    env = gymnasium.make(f"wiser/Carla{name}-v0", make_client=server, size=32).unwrapped
    ours = DrivingEnv(name, size=32)
    assert env.observation_space == ours.observation_space
    assert env.action_space == ours.action_space
    (observation, first), (_, our_first) = env.reset(seed=0), ours.reset(seed=0)
    assert list(observation) == list(SENSORS)
    assert env.observation_space.contains(observation)
    assert first.keys() == our_first.keys()
    info, our_info = env.step(COAST)[-1], ours.step(COAST)[-1]
    assert info.keys() == our_info.keys()
    assert info["reward_terms"].keys() == our_info["reward_terms"].keys()


def test_check_env_is_content():
    def server_each(host, port):
        return Client(Server(TASKS["StopSign"].road_map()))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("wiser/CarlaStopSign-v0", render_mode="rgb_array", size=32, make_client=server_each)
        check_env(env.unwrapped)


def test_same_seed_same_route_start_and_roads_as_the_embedded_world():
    """Without traffic only camera and lidar differ."""
    _, env = make("StopSign")
    ours = DrivingEnv("StopSign", size=32)
    theirs, embedded = env.reset(seed=5)[0], ours.reset(seed=5)[0]
    np.testing.assert_array_equal(env.batch.world.progress.route, ours.batch.world.progress.route)
    np.testing.assert_allclose(env.batch.world.ego, ours.batch.world.ego, atol=1e-4)
    for name in SENSORS[2:6]:
        assert np.abs(theirs[name].astype(int) - embedded[name].astype(int)).mean() < 1.5
    assert theirs["camera"][0, 0].tolist() == [30, 20, 10]


@pytest.mark.parametrize("name", ["FourLane", "RightTurn-Hard"])
def test_same_seed_same_traffic(name):
    runs = []
    for _ in range(2):
        server, env = make(name, sensors=("birdeye_gt", "collision"))
        env.reset(seed=3)
        env.step(GO)
        poses = [(a.type_id, a.attributes["color"], *np.round(a.middle(), 4)) for a in server.vehicles()]
        runs.append((server.traffic.seeds, poses))
    assert runs[0] == runs[1]
    env.reset(seed=4)
    assert server.traffic.seeds[1] != server.traffic.seeds[0]


def test_how_many_cars():
    for name, cars, expected in (("FourLane", None, 51), ("FourLane", 7, 8), ("RightTurn", None, 1)):
        server, env = make(name, cars=cars)
        env.reset(seed=0)
        assert len(server.vehicles()) == expected


def test_actions_become_pedals_and_wheel():
    control = to_control(2.0, 0.3)
    assert (control.throttle, control.brake, control.steer) == pytest.approx((2 / 3, 0.0, -0.3))
    control = to_control(-3.0, -0.9)
    assert (control.throttle, control.brake, control.steer) == pytest.approx((0.0, 1.0, 0.9))
    server, env = make("StopSign")
    env.reset(seed=0)
    env.step(14)  # accelerate, steering +0.9: to the left
    assert server.ego().control == carla.VehicleControl(throttle=2 / 3, steer=-0.9)


def test_collision_is_seen_in_the_same_step():
    server, env = make("FourLane", cars=1)
    env.reset(seed=0)
    ego, other = server.ego(), next(v for v in server.vehicles() if v is not server.ego())
    x, y, yaw = ego.middle()
    ego.speed, other.wish = 4.0, 0.0
    other.place(x + 4.9 * math.cos(yaw), y + 4.9 * math.sin(yaw), yaw)
    observation, _, terminated, _, info = env.step(COAST)
    assert terminated
    assert info["collision"]
    assert not info["success"]
    assert info["reward_terms"]["collision"] == pytest.approx(-120.0, rel=0.01)
    assert observation["collision"] == 1.0
    observation, _ = env.reset(seed=0)
    assert observation["collision"] == 0.0


def test_off_route():
    server, env = make("StopSign")
    env.reset(seed=0)
    x, y, yaw = server.ego().middle()
    server.ego().place(x, y + 3.5, yaw)
    *_, terminated, _, info = env.step(COAST)
    assert terminated
    assert info["off_route"]


def test_the_stop_rule():
    server, env = make("StopSign")
    env.reset(seed=0)
    terminated = False
    while not terminated:
        *_, terminated, _, info = env.step(GO)
    assert info["stop_violation"]
    assert info["reward_terms"]["stop"] == -5.0
    env.reset(seed=0)
    world = env.batch.world
    x, y, yaw = world.progress.route[0, world.progress.route_stop[0]]
    server.ego().place(x, y, yaw)
    world.progress.index[:] = world.progress.route_stop
    for held in range(1, STOP_STEPS + 1):
        env.step(BRAKE)
        assert world.progress.held[0] == held


def test_the_time_limit_truncates():
    _, env = make("StopSign", sensors=("collision",))
    env.reset(seed=0)
    for step in range(1, TIME_LIMIT + 1):
        *_, terminated, truncated, _ = env.step(BRAKE)
        assert not terminated
        assert truncated == (step == TIME_LIMIT)


def test_episodes_follow_one_another_without_leftovers():
    server, env = make("RightTurn-Medium")
    counts = []
    for _ in range(3):
        env.reset(seed=0)
        counts.append(len(server.actors))
    assert len(set(counts)) == 1
    assert sum(a.attributes.get("role_name") == "hero" for a in server.actors.values()) == 1


@pytest.mark.parametrize("error", [RuntimeError("lost"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize(("what", "after"), [("spawn", 0), ("spawn", 2), ("spawn", 12), ("tick", 5)])
def test_an_error_in_reset_leaves_nothing_behind(what, after, error):
    server, env = make("FourLane")
    server.faults[what] = (after, error)
    with pytest.raises(type(error)):
        env.reset(seed=0)
    assert clean(server)
    with pytest.raises(CarlaError, match="make a new environment"):
        env.reset(seed=0)


@pytest.mark.parametrize("error", [RuntimeError("time-out of 20000ms"), KeyboardInterrupt()])
def test_an_error_in_step_leaves_nothing_behind(error):
    server, env = make("RightTurn-Hard")
    env.reset(seed=0)
    server.faults["tick"] = (3, error)
    for _ in range(3):
        env.step(COAST)
    with pytest.raises((CarlaError, KeyboardInterrupt)):
        env.step(COAST)
    assert clean(server)


def test_a_tick_that_never_ends_says_what_to_do():
    server, env = make("StopSign")
    env.reset(seed=0)
    server.faults["tick"] = (0, RuntimeError("time-out of 500ms while waiting for the simulator"))
    with pytest.raises(CarlaError, match=r"did not tick.*restart it"):
        env.step(COAST)


@pytest.mark.parametrize(("kind", "name"), [("sensor.camera.rgb", "camera"), ("sensor.lidar.ray_cast", "lidar")])
def test_a_silent_sensor_ends_the_session(kind, name):
    server, env = make("StopSign")
    env.reset(seed=0)
    server.faults[kind] = True
    with pytest.raises(CarlaError, match=f"the {name} sent nothing"):
        env.step(COAST)
    assert clean(server)


def test_a_taken_start_says_so():
    server, env = make("StopSign")
    env.reset(seed=0)
    squatter = server.ego()
    env.batch.world.session.belongings.vehicles.clear()
    squatter.attributes["role_name"] = "other"
    with pytest.raises(CarlaError, match="is taken"):
        env.reset(seed=0)


def test_a_wrong_sensor_name_lets_go_of_the_server():
    server = Server(TASKS["StopSign"].road_map())
    with pytest.raises(ValueError, match="no sensor called"):
        CarlaEnv("StopSign", sensors=("radar",), make_client=server)
    assert clean(server)


def test_only_what_is_asked_for_is_mounted():
    server, env = make("StopSign", sensors=("birdeye_raw", "collision"))
    observation, _ = env.reset(seed=0)
    assert list(observation) == ["birdeye_raw", "collision"]
    assert {a.type_id for a in server.actors.values()} == {"vehicle.tesla.model3", "sensor.other.collision"}
    assert server.settings.no_rendering_mode


def test_the_picture_for_people_shows_carlas_camera():
    _, env = make("StopSign", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (540, 960, 3)
    assert picture[100, 300].tolist() == [30, 20, 10]


def test_a_forgotten_environment_lets_go_of_the_server():
    server, env = make("RightTurn-Medium")
    env.reset(seed=0)
    env.step(GO)
    del env
    gc.collect()
    assert clean(server)
