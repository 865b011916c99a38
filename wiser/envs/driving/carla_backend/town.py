"""A town as `carla.Map` knows it: how high the road lies, whether our route lies on it, and what to draw of it."""

from __future__ import annotations

import itertools
import math

import carla
import numpy as np

from wiser.envs.driving.carla_backend.server import CarlaError
from wiser.envs.driving.roads import SAMPLE, Floats, resample
from wiser.envs.driving.sensors.textures import EDGE_INSET, Marking, Surface, dashes, surface_of
from wiser.envs.driving.tasks import Task

STOREY = 3.0  # metres above or below from which a road or car belongs to another level
OFF_TOWN = 2.5  # metres from the nearest lane at which a route cannot be this town's; between two lanes it is 1.75
MARKED = {
    carla.LaneMarkingType.Solid,
    carla.LaneMarkingType.SolidSolid,
    carla.LaneMarkingType.SolidBroken,
    carla.LaneMarkingType.BrokenSolid,
}
DASHED = {carla.LaneMarkingType.Broken, carla.LaneMarkingType.BrokenBroken}


def on_town(town: carla.Map, points: Floats, height: float = 0.0) -> tuple[Floats, Floats]:
    """Height of the road below points (P, >= 2), and how far the nearest lane's centre is: both (P,).

    Follows the road from point to point, so that a bridge above does not catch it.
    """
    heights, away = np.empty(len(points)), np.empty(len(points))
    for k, (x, y) in enumerate(points[:, :2].tolist()):
        place = town.get_waypoint(carla.Location(x=x, y=y, z=height)).transform.location
        height = heights[k] = place.z
        away[k] = math.hypot(place.x - x, place.y - y)
    return heights, away


def route_heights(town: carla.Map, route: Floats) -> Floats:
    """Height of the road along a route (W, 3); an error if the route is not on this town's roads."""
    heights, away = on_town(town, route)
    if away.max() > OFF_TOWN:
        x, y = route[away.argmax(), :2]
        raise CarlaError(
            f"the route leaves the roads of {town.name} at ({x:.1f}, {y:.1f}), {away.max():.1f} m from the nearest "
            "lane: is this an altered town?"
        )
    return heights


def lane_line(points: list[carla.Waypoint]) -> Floats:
    """A lane in driving direction from its waypoints along the road: (P, 5) x, y, yaw, height, half width.

    The last one lies up to a sample before the lane's end, so the line is drawn out by one. (The library's own walk to
    either end of a lane, `previous_until_lane_start`, brings the process down where a road has no predecessor.)
    """
    rows = []
    for point in points:
        place, yaw = point.transform.location, math.radians(point.transform.rotation.yaw)
        rows.append((place.x, place.y, yaw, place.z, 0.5 * point.lane_width))
    x, y, yaw, z, half = rows[-1]
    forward = points[0].lane_id < 0
    step = SAMPLE if forward else -SAMPLE
    rows.append((x + step * math.cos(yaw), y + step * math.sin(yaw), yaw, z, half))
    return np.array(rows if forward else rows[::-1])


def beside(lane: Floats, right: float, inset: float = 0.0) -> Floats:
    """A line along a lane's edge (right 1 or -1), some metres inside it: (P, 2)."""
    aside = right * (lane[:, 4] - inset)
    return np.stack([lane[:, 0] - aside * np.sin(lane[:, 2]), lane[:, 1] + aside * np.cos(lane[:, 2])], axis=1)


def lane_markings(point: carla.Waypoint, lane: Floats) -> list[Marking]:
    """The line right of a lane, and the one left of it unless a lane of the same direction draws it as its right."""
    out: list[Marking] = []
    neighbour = point.get_left_lane()
    alone = neighbour is None or neighbour.lane_type != carla.LaneType.Driving
    opposite = neighbour is not None and neighbour.lane_id * point.lane_id < 0
    sides = [(1.0, point.right_lane_marking, point.get_right_lane())]
    if alone or opposite:
        sides.append((-1.0, point.left_lane_marking, None if alone else neighbour))
    for side, mark, beyond in sides:
        yellow = mark.color == carla.LaneMarkingColor.Yellow
        edge = beyond is None or beyond.lane_type != carla.LaneType.Driving
        line = beside(lane, side, EDGE_INSET if edge else 0.0)
        if mark.type in MARKED:
            out.append(Marking(line, yellow, thin=edge))
        elif mark.type in DASHED:
            out += [Marking(dash, yellow) for dash in dashes(resample(line, SAMPLE)[:, :2])]
    return out


def lanes_round(town: carla.Map, task: Task, route: Floats, heights: Floats) -> list[list[carla.Waypoint]]:
    """Waypoints of the lanes on our map's stretch of the town and on the route's level, lane by lane."""
    bounds = np.concatenate(surface_of(task.road_map()).shapes)
    low, high = bounds.min(axis=0), bounds.max(axis=0)
    lanes: dict[tuple[int, int, int], list[carla.Waypoint]] = {}
    for point in town.generate_waypoints(SAMPLE):
        place = point.transform.location
        if not (low[0] <= place.x <= high[0] and low[1] <= place.y <= high[1]):
            continue
        nearest = np.hypot(route[:, 0] - place.x, route[:, 1] - place.y).argmin()
        if abs(place.z - heights[nearest]) < STOREY:
            lanes.setdefault((point.road_id, point.section_id, point.lane_id), []).append(point)
    return [piece for points in lanes.values() for piece in unbroken(points) if len(piece) > 1]


def unbroken(points: list[carla.Waypoint]) -> list[list[carla.Waypoint]]:
    """Waypoints of one lane in the order of the road, cut where it was out of the picture for a while."""
    points = sorted(points, key=lambda point: point.s)
    cuts = [k for k in range(1, len(points)) if points[k].s - points[k - 1].s > 1.5 * SAMPLE]
    return [points[begin:end] for begin, end in itertools.pairwise([0, *cuts, len(points)])]


def town_surface(town: carla.Map, task: Task, route: Floats, heights: Floats) -> Surface:
    """The roads round a task for the bird's-eye views; what lanes do not tell is taken from our map of the place.

    That is the kerb round the junction, the stop lines and the width of the pavement.
    """
    shapes, markings, road_map = [], [], task.road_map()
    for points in lanes_round(town, task, route, heights):
        lane = lane_line(points)
        shapes.append(np.concatenate([beside(lane, -1.0), beside(lane, 1.0)[::-1]]))
        markings += [] if points[0].is_junction else lane_markings(points[len(points) // 2], lane)
    if shapes and len(road_map.outline):
        shapes.append(road_map.outline)
    return Surface(shapes, markings, road_map.stop_lines, road_map.pavement)
