"""Towns and actors in CARLA's own types give the scene, the roads and the numbers that our world has."""

import math
import subprocess
import sys
from types import SimpleNamespace

import carla
import cv2
import numpy as np
import pytest

from tests.envs.driving.carla_backend.carla_doubles import Town
from wiser.envs.driving.carla_backend.scene import cars_round, middle_of, plan_of, pose_of, size_of
from wiser.envs.driving.carla_backend.server import CarlaError
from wiser.envs.driving.carla_backend.town import route_heights, town_surface
from wiser.envs.driving.carla_backend.traffic import courteous_speed, flow_lane
from wiser.envs.driving.drivers import PLAN_POINTS
from wiser.envs.driving.dynamics import boxes_touch
from wiser.envs.driving.opendrive import to_opendrive
from wiser.envs.driving.roads import LANE_WIDTH
from wiser.envs.driving.sensors.textures import STYLES, draw_texture, surface_of
from wiser.envs.driving.tasks import TASKS, build_route
from wiser.envs.driving.traffic import FLOW_SPEED, PLAN_SPACING

NAMES = ["FourLane", "RightTurn", "StopSign"]


def town_and_route(name):
    return Town(TASKS[name].road_map()), build_route(TASKS[name], np.random.default_rng(0)).waypoints


def actor(number, x, y, z=0.0, yaw=0.0, half=(2.4, 1.0, 0.75), offset=0.0, speed=0.0, **attributes):
    """An actor as the scene sees it."""
    transform = carla.Transform(carla.Location(x=x, y=y, z=z), carla.Rotation(yaw=yaw))
    box = carla.BoundingBox(carla.Location(x=offset, y=0.0, z=half[2]), carla.Vector3D(*half))
    velocity = carla.Vector3D(x=speed * math.cos(math.radians(yaw)), y=speed * math.sin(math.radians(yaw)), z=0.0)
    return SimpleNamespace(
        id=number,
        bounding_box=box,
        attributes=attributes,
        get_transform=lambda: transform,
        get_velocity=lambda: velocity,
    )


@pytest.mark.parametrize("name", NAMES)
def test_carla_counts_our_lanes_and_junctions(name):
    town, road_map = Town(TASKS[name].road_map()), TASKS[name].road_map()
    points = town.generate_waypoints(2.0)
    found = {(point.road_id, point.lane_id) for point in points}
    assert found == {(road.id, lane) for road in road_map.roads for lane in road.lanes}
    inside = {point.road_id for point in points if point.is_junction}
    assert inside == {road.id for road in road_map.roads if road.connecting}
    assert len({point.junction_id for point in points if point.is_junction}) == bool(inside)


@pytest.mark.parametrize("name", NAMES)
def test_roads_read_from_carla_look_like_ours(name):
    town, route = town_and_route(name)
    theirs = draw_texture(town_surface(town, TASKS[name], route, route_heights(town, route)), STYLES["birdeye"])
    ours = draw_texture(surface_of(TASKS[name].road_map()), STYLES["birdeye"])
    np.testing.assert_array_equal(theirs.levels, ours.levels)
    assert theirs.origin == pytest.approx(ours.origin, abs=0.6)
    rows, columns = ours.levels[0, 1:]
    pictures = [texture.texels[: rows * columns].reshape(rows, columns) & np.uint64(0xFF) for texture in (theirs, ours)]
    if np.abs(theirs.origin - ours.origin).max() > 0.4:  # the road was drawn out by half a metre: two texels
        shift = np.round((ours.origin - theirs.origin) / ours.texel).astype(int)
        pictures[0] = np.roll(pictures[0], (-shift[1], -shift[0]), axis=(0, 1))
    different = np.abs(pictures[0].astype(int) - pictures[1].astype(int)) > 40
    assert different.mean() < 0.003


def test_a_town_can_be_checked_beforehand(tmp_path):
    """`check_town` finds our own map without fault, and draws it."""
    (tmp_path / "Town04.xodr").write_text(to_opendrive(TASKS["StopSign"].road_map()))
    tool = "wiser.envs.driving.carla_backend.check_town"
    arguments = ["-m", tool, "--opendrive", "Town04.xodr", "--task", "StopSign", "--picture", "roads.png"]
    done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "0.00 m median" in done.stdout, done.stderr
    assert cv2.imread(str(tmp_path / "roads.png")).std() > 10


def test_a_route_of_another_town_is_an_error():
    town, _ = town_and_route("StopSign")
    _, route = town_and_route("RightTurn")
    with pytest.raises(CarlaError, match="the route leaves the roads"):
        route_heights(town, route)


def test_roads_on_another_level_are_left_out():
    town, route = town_and_route("StopSign")
    bridge = town_surface(town, TASKS["StopSign"], route, np.full(len(route), 10.0))
    assert not bridge.shapes


def test_pose_is_the_middle_of_the_box():
    made = actor(1, 10.0, 20.0, yaw=90.0, offset=0.5, speed=3.0)
    assert pose_of(made) == pytest.approx((10.0, 20.5, math.pi / 2, 3.0), abs=1e-5)
    assert pose_of(made) == pose_of(made)  # nothing was changed by looking
    assert size_of(made) == pytest.approx((4.8, 2.0, 1.5))
    corners = made.bounding_box.get_world_vertices(made.get_transform())
    middle = middle_of(made.bounding_box, made.get_transform())
    assert (middle.x, middle.y, middle.z) == pytest.approx(
        tuple(np.mean([(c.x, c.y, c.z) for c in corners], axis=0)), abs=1e-5
    )


def test_axes_are_carlas():
    """Ahead is (cos yaw, sin yaw), to the right is (-sin yaw, cos yaw), and yaw grows clockwise from above."""
    for yaw in (-170.0, -90.0, 13.0, 120.0):
        transform, angle = carla.Transform(carla.Location(), carla.Rotation(yaw=yaw)), math.radians(yaw)
        ahead, right = transform.get_forward_vector(), transform.get_right_vector()
        assert (ahead.x, ahead.y) == pytest.approx((math.cos(angle), math.sin(angle)), abs=1e-6)
        assert (right.x, right.y) == pytest.approx((-math.sin(angle), math.cos(angle)), abs=1e-6)


def test_boxes_contain_what_ours_touch():
    """A tiny box of ours touches another box exactly when CARLA says that its middle is inside."""
    rng, agree = np.random.default_rng(0), []
    for _ in range(300):
        made = actor(1, *rng.uniform(-5, 5, 2), yaw=float(rng.uniform(-180, 180)))
        x, y = rng.uniform(-7, 7, 2)
        inside = made.bounding_box.contains(carla.Location(x=x, y=y, z=0.7), made.get_transform())
        bx, by, yaw, _ = pose_of(made)
        agree.append(inside == boxes_touch(bx, by, yaw, 4.8, 2.0, x, y, 0.0, 1e-6, 1e-6))
    assert all(agree)


def test_cars_nearby_on_the_same_level_nearest_first():
    town, _ = town_and_route("FourLane")
    ego = actor(1, 5.0, 100.0, yaw=-90.0)
    others = [
        actor(2, 5.0, 60.0, yaw=-90.0, speed=4.0, color="1,2,3"),
        actor(3, 8.5, 90.0, yaw=-90.0),
        actor(4, 5.0, 90.0, z=3.5),
        actor(5, 5.0, 90.0, z=-3.5),
        actor(6, 5.0, 30.0),
    ]
    cars = cars_round(town, ego, [ego, *others])
    assert cars.pose[:, 1].tolist() == pytest.approx([90.0, 60.0])
    assert cars.pose[1, 2:].tolist() == pytest.approx([-math.pi / 2, 4.0])
    assert cars.paint.tolist() == [[128.0] * 3, [1.0, 2.0, 3.0]]
    assert cars.plans.shape == (2, PLAN_POINTS, 2)
    assert cars_round(town, ego, [ego]).pose.shape == (0, 4)


def test_plans_follow_the_lane_and_end_with_the_road():
    town, _ = town_and_route("FourLane")
    x = 3.15 + 0.00456 * 100.0 + LANE_WIDTH / 2
    plan = plan_of(town, actor(2, x, 100.0, yaw=-90.0))
    assert np.hypot(*np.diff(plan, axis=0).T) == pytest.approx(np.full(PLAN_POINTS - 1, PLAN_SPACING), abs=0.01)
    assert np.abs(plan[:, 0] - x).max() < 0.1
    assert len(plan_of(town, actor(2, x - 1.2, -174.0, yaw=-90.0))) == PLAN_POINTS


def test_the_flow_runs_in_the_lane_that_the_ego_turns_into():
    task = TASKS["RightTurn-Hard"]
    lane, heights = flow_lane(Town(task.road_map()), task)
    target = task.road_map().road(6).lane_centre(-2)
    assert np.hypot(*(lane[-20, :2] - target[:, :2]).T).min() < 0.3
    assert len(lane) == len(heights)


def test_courtesy():
    assert courteous_speed(-1.0, 4.0) == FLOW_SPEED  # past the place
    assert courteous_speed(3.0, 5.0) == FLOW_SPEED  # too close to brake
    assert 0.0 < courteous_speed(8.0, 4.0) < FLOW_SPEED
    assert courteous_speed(2.0, 0.0) == 0.0
