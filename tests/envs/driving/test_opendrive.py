"""Our maps leave the house as OpenDRIVE, and CARLA's own reader finds in it what we drew."""

import math
import xml.etree.ElementTree as ET

import carla
import numpy as np
import pytest

from wiser.envs.driving import maps
from wiser.envs.driving.opendrive import to_opendrive
from wiser.envs.driving.roads import LANE_WIDTH
from wiser.envs.driving.tasks import TASKS, build_route

MAPS = [maps.four_lane(), maps.right_turn(), maps.stop_sign()]
by_name = pytest.mark.parametrize("road_map", MAPS, ids=lambda road_map: road_map.name)


@by_name
def test_well_formed(road_map):
    root = ET.fromstring(to_opendrive(road_map))
    assert root.tag == "OpenDRIVE"
    assert len(root.findall("road")) == len(road_map.roads)
    for road in root.findall("road"):
        pieces = road.findall("planView/geometry")
        assert sum(float(p.get("length")) for p in pieces) == pytest.approx(float(road.get("length")), abs=1e-6)


@by_name
def test_carla_agrees_on_lane_centres_widths_and_directions(road_map):
    town = carla.Map(road_map.name, to_opendrive(road_map))
    for road in road_map.roads:
        for lane in road.lanes:
            for x, y, yaw in road.lane_centre(lane)[4:-4:20]:
                found = town.get_waypoint_xodr(road.id, lane, _distance(road, lane, x, y))
                assert found is not None
                place = found.transform.location
                assert math.hypot(place.x - x, place.y - y) < 0.05
                turned = math.radians(found.transform.rotation.yaw) - yaw
                assert abs(math.remainder(turned, 2 * math.pi)) < 0.02
                assert found.lane_width == pytest.approx(LANE_WIDTH)
                assert found.is_junction == road.connecting


def _distance(road, lane, x, y):
    offset = (abs(lane) - 0.5) * road.width * (1 if lane < 0 else -1)
    s = np.linspace(0.0, road.length, 4000)
    points = road.poses(s, offset)
    return float(s[np.hypot(points[:, 0] - x, points[:, 1] - y).argmin()])


@pytest.mark.parametrize("name", ["RightTurn", "StopSign", "FourLane"])
def test_carla_finds_our_routes_on_driving_lanes(name):
    town = carla.Map(name, to_opendrive(TASKS[name].road_map()))
    route = build_route(TASKS[name], np.random.default_rng(0))
    for x, y, _ in route.waypoints:
        found = town.get_waypoint(carla.Location(x=x, y=y), project_to_road=True)
        place = found.transform.location
        assert math.hypot(place.x - x, place.y - y) < (0.3 if TASKS[name].path else LANE_WIDTH / 2 + 0.01)


def test_carla_finds_the_stop_sign():
    road_map = maps.stop_sign()
    town = carla.Map(road_map.name, to_opendrive(road_map))
    (mark,) = town.get_all_landmarks_of_type("206")
    (sign,) = road_map.signs
    place = mark.transform.location
    assert math.hypot(place.x - sign.x, place.y - sign.y) < 0.5
    start = town.get_waypoint(carla.Location(x=179.5, y=-169.5))
    assert len(start.get_landmarks_of_type(30.0, "206")) == 1


def test_carla_drives_through_the_junction_the_way_we_do():
    road_map = maps.right_turn()
    town = carla.Map(road_map.name, to_opendrive(road_map))
    here = town.get_waypoint(carla.Location(x=-33.8, y=-135.1))
    exits = {(p.road_id, p.lane_id) for branch in here.next(22.0) for p in branch.next(35.0)}
    assert {road for road, _ in exits} >= {2, 4, 6}


def test_carla_allows_lane_changes_on_the_motorway_only():
    town = carla.Map("FourLane", to_opendrive(maps.four_lane()))
    inner = town.get_waypoint_xodr(1, -2, 100.0)
    assert inner.lane_change == carla.LaneChange.Both
    assert inner.get_left_lane().lane_id == -1
    assert inner.get_right_lane().lane_id == -3
    town = carla.Map("StopSign", to_opendrive(maps.stop_sign()))
    assert town.get_waypoint_xodr(1, -1, 20.0).lane_change == carla.LaneChange.NONE
