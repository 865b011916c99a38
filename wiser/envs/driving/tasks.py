"""The tasks: where the ego drives, what it is paid for, when an episode ends.

Nothing here knows which simulator moves the cars: the embedded world and a CARLA server call the same functions.
Everything that runs each step is a pure function over a batch of B worlds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving import maps
from wiser.envs.driving.roads import SAMPLE, Floats, RoadMap, resample

STEP_SECONDS = 0.1
TIME_LIMIT = 500
TARGET_SPEED = 4.0  # m/s
WAYPOINT_SPACING = 0.8  # m
WAYPOINT_REACHED = 0.5
WAYPOINTS_VISIBLE = 60
WAYPOINTS_LEFT_AT_DESTINATION = 3
OFF_ROUTE = 3.0  # m from the next waypoint
STOP_RADIUS = 2.0  # m round the stop point
STOP_STEPS = 30  # 3 s inside that circle
ACCELERATIONS = (-2.0, 0.0, 2.0)  # m/s^2
CLEAR_OF_LANE, IN_LANE = 4.3, 1.2  # m from the centre of a lane that the route turns into
SETTLED = 8  # waypoints after the merging one, where a route runs in the middle of its new lane
SEARCH = 8  # waypoints looked at for progress: 6.4 m, more than a car drives in one step


@dataclass(frozen=True)
class Task:
    """What tells one task from another."""

    name: str
    road_map: Callable[[], RoadMap]
    steers: tuple[float, ...]  # the five steering values, positive to the left as published
    start: tuple[float, float] = (0.0, 0.0)
    destination: tuple[float, float] = (0.0, 0.0)
    path: tuple[tuple[int, int], ...] = ()  # (road, lane) along the fixed route; empty: lanes are drawn at random
    stop_point: tuple[float, float] | None = None
    flow_gap: tuple[float, float] | None = None  # bumper to bumper, metres; cross traffic at the junction
    cars: int = 0
    signals_range: float = 32.0  # metres shown by birdeye_with_traffic_lights

    @property
    def title(self) -> str:
        """The name in words."""
        return "".join(f" {c}" if c.isupper() else c for c in self.name).replace("-", ",").strip()


WIDE = (-0.9, -0.3, 0.0, 0.3, 0.9)
_TURN = Task("RightTurn", maps.right_turn, WIDE, (-33.8, -135.1), (-5.0, -110.3), path=((1, -1), (10, -1), (6, -2)))
TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("FourLane", maps.four_lane, (-0.6, -0.2, 0.0, 0.2, 0.6), (0.0, 100.0), (0.0, -58.0), cars=20),
        _TURN,
        Task(**{**_TURN.__dict__, "name": "RightTurn-Medium", "flow_gap": (8.0, 16.0), "cars": 14}),
        Task(**{**_TURN.__dict__, "name": "RightTurn-Hard", "flow_gap": (6.0, 8.0), "cars": 14}),
        Task(
            "StopSign", maps.stop_sign, WIDE, (179.5, -169.5), (215.5, -169.1), path=((1, -1), (14, -1), (2, -1)),
            stop_point=(189.9, -169.6), signals_range=64.0,
        ),
    )
}  # fmt: skip


class Route(NamedTuple):
    """Waypoints of one episode, and where they cut into other traffic."""

    waypoints: Floats  # (W, 3) x, y, yaw
    yields: NDArray[np.int64]  # (Y, 2) waypoint to wait at, waypoint where the other lane is reached


def build_route(task: Task, rng: np.random.Generator) -> Route:
    """The route of one episode: fixed by the map, or drawn lane by lane."""
    return _lane_change_route(task, rng) if not task.path else _fixed_route(task)


@lru_cache
def _fixed_route(task: Task) -> Route:
    """Lane centres joined, from the point nearest the start to the point nearest the destination."""
    road_map = task.road_map()
    lanes = [road_map.road(road).lane_centre(lane)[:, :2] for road, lane in task.path]
    line = resample(np.concatenate([lanes[0], *(lane[1:] for lane in lanes[1:])]), 0.1)[:, :2]
    first, last = (int(np.hypot(*(line - point).T).argmin()) for point in (task.start, task.destination))
    waypoints = resample(line[first : last + 1], WAYPOINT_SPACING)
    if task.stop_point is not None:
        return Route(waypoints, np.zeros((0, 2), np.int64))
    return Route(waypoints, _merging(waypoints, road_map.road(task.path[-1][0]).lane_centre(task.path[-1][1])[0]))


def _merging(waypoints: Floats, lane: Floats) -> NDArray[np.int64]:
    """Where a route turns into a lane with this pose: the last waypoint clear of its traffic, the first in its way."""
    dx, dy = waypoints[:, 0] - lane[0], waypoints[:, 1] - lane[1]
    aside = np.abs(dy * np.cos(lane[2]) - dx * np.sin(lane[2]))
    return np.array([[int((aside > CLEAR_OF_LANE).nonzero()[0][-1]), int((aside < IN_LANE).nonzero()[0][0])]])


def _lane_change_route(task: Task, rng: np.random.Generator) -> Route:
    """Keep a lane for 15 to 30 m, then stay or change to the left or right over 8 m, until the destination."""
    road = task.road_map().roads[0]
    begin, end = (float(np.abs(road.line()[:, 1] - y).argmin()) * SAMPLE for y in (task.start[1], task.destination[1]))
    lane, s = int(rng.integers(road.right)), begin
    knots, changes = [(s, float(lane))], []
    while s < end:
        s += float(rng.uniform(15.0, 30.0))
        knots.append((s, float(lane)))
        wanted = lane + int(rng.integers(-1, 2))
        if wanted == lane or not 0 <= wanted < road.right or s + 14.0 > end:
            continue
        changes.append(s)
        lane, s = wanted, s + 8.0
        knots.append((s, float(lane)))
    along = np.arange(begin, end + 0.1, 0.1)
    offset = (np.interp(along, *np.array(knots).T) + 0.5) * road.width
    points = road.poses(along, offset)[:, :2]
    waypoints = resample(points, WAYPOINT_SPACING)
    travelled = np.interp(
        np.array(changes), along, np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    )
    first = (travelled / WAYPOINT_SPACING).astype(np.int64).reshape(-1, 1)
    return Route(waypoints, np.concatenate([first - 3, first + 6], axis=1))


def start_pose(route: Route, rng: np.random.Generator) -> tuple[float, float, float]:
    """The ego's pose at the beginning: the first waypoint, up to 0.25 m and 2 degrees off, so that no two are alike."""
    x, y, yaw = route.waypoints[0]
    aside, turned = rng.uniform(-0.25, 0.25), rng.uniform(-0.035, 0.035)
    return x - aside * np.sin(yaw), y + aside * np.cos(yaw), yaw + turned


def advance_progress(
    route: Floats, count: NDArray[np.int64], index: NDArray[np.int64], xy: Floats
) -> NDArray[np.int64]:
    """Index of the next waypoint: one after the furthest waypoint now within reach.

    route (B, W, 3), count and index (B,), xy (B, 2) -> (B,)
    """
    ahead = np.minimum(index[:, None] + np.arange(SEARCH), count[:, None] - 1)  # (B, SEARCH)
    points = np.take_along_axis(route, ahead[:, :, None], axis=1)[..., :2]
    reached = np.hypot(points[..., 0] - xy[:, :1], points[..., 1] - xy[:, 1:]) < WAYPOINT_REACHED
    furthest = np.where(reached, ahead + 1, 0).max(axis=1)
    return np.maximum(index, furthest)


class RewardTerms(NamedTuple):
    """What a step was paid for; each (B,). The reward is their sum."""

    waypoint: Floats
    speed: Floats
    collision: Floats
    lateral: Floats
    destination: Floats
    stop: Floats

    def total(self) -> Floats:
        """The reward."""
        return sum(self, np.zeros_like(self.waypoint))


class Outcome(NamedTuple):
    """What happened in a step; each (B,) bool."""

    collision: NDArray[np.bool_]
    off_route: NDArray[np.bool_]
    destination: NDArray[np.bool_]
    stop_violation: NDArray[np.bool_]

    def terminal(self) -> NDArray[np.bool_]:
        """Whether the episode ends here. The time limit is a truncation and not among the reasons."""
        return self.collision | self.off_route | self.destination | self.stop_violation

    def success(self) -> NDArray[np.bool_]:
        """The destination was reached and nothing else went wrong in the same step."""
        return self.destination & ~(self.collision | self.off_route | self.stop_violation)


def next_waypoint(route: Floats, count: NDArray[np.int64], index: NDArray[np.int64]) -> Floats:
    """The waypoint to reach next: (B, 3)."""
    return route[np.arange(len(index)), np.minimum(index, count - 1)]


def outcome(
    waypoint: Floats, left: NDArray[np.int64], xy: Floats, collided: NDArray[np.bool_], violated: NDArray[np.bool_]
) -> Outcome:
    """Judge the state after a step: waypoint (B, 3) is the next one, left (B,) how many remain."""
    away = np.hypot(xy[:, 0] - waypoint[:, 0], xy[:, 1] - waypoint[:, 1])
    arrived = left <= WAYPOINTS_LEFT_AT_DESTINATION
    return Outcome(collided, (away > OFF_ROUTE) & ~arrived, arrived, violated)


def reward_terms(
    happened: Outcome, completed: NDArray[np.int64], waypoint: Floats, xy: Floats, velocity: Floats
) -> RewardTerms:
    """The reward of a step; completed (B,) waypoints in this step, velocity (B, 2) in the world's axes."""
    ahead = np.stack([np.cos(waypoint[:, 2]), np.sin(waypoint[:, 2])], axis=1)  # (B, 2)
    along = (velocity * ahead).sum(axis=1)
    across = np.abs(velocity[:, 1] * ahead[:, 0] - velocity[:, 0] * ahead[:, 1])
    gap = xy - waypoint[:, :2]
    lateral = np.abs(gap[:, 1] * ahead[:, 0] - gap[:, 0] * ahead[:, 1])
    return RewardTerms(
        waypoint=np.where(completed > 0, 2.0, 0.0),
        speed=0.5 * (TARGET_SPEED - np.abs(along - TARGET_SPEED) - 2.0 * across),
        collision=np.where(happened.collision, -30.0 * np.hypot(velocity[:, 0], velocity[:, 1]), 0.0),
        lateral=np.minimum(3.0 * (0.5 - lateral), 0.0),
        destination=np.where(happened.destination, 20.0, 0.0),
        stop=np.where(happened.stop_violation, -5.0, 0.0),
    )


def hold_at_stop(
    stop_point: tuple[float, float] | None,
    route_stop: NDArray[np.int64],
    held: NDArray[np.int64],
    index: NDArray[np.int64],
    xy: Floats,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """One tick of the stop rule: steps held near the stop point so far, and whether the ego went on too early.

    route_stop (B,) is the waypoint nearest the stop point; leaving the circle beyond it ends the chance to wait.
    """
    if stop_point is None:
        return held, np.zeros(len(held), bool)
    inside = np.hypot(xy[:, 0] - stop_point[0], xy[:, 1] - stop_point[1]) < STOP_RADIUS
    held = held + inside
    return held, ~inside & (index > route_stop + 1) & (held < STOP_STEPS)
