"""CARLA's actors as the plain arrays that the sensors draw and the scripted driver looks at.

CARLA speaks degrees and places an actor at its own origin; here everything is radians and the middle of the box.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import carla
import numpy as np

from wiser.envs.driving.carla_backend.town import STOREY
from wiser.envs.driving.drivers import PLAN_POINTS
from wiser.envs.driving.roads import Floats
from wiser.envs.driving.traffic import PLAN_SPACING

SIGHT = 60.0  # metres: cars further away do not matter to any sensor
TURN_AHEAD = 10.0  # metres into a junction after which its branches differ
GREY = (128.0, 128.0, 128.0)


class Cars(NamedTuple):
    """The other cars round one ego."""

    pose: Floats  # (N, 4) x, y, yaw, speed
    size: Floats  # (N, 3) length, width, height
    paint: Floats  # (N, 3)
    plans: Floats  # (N, PLAN_POINTS, 2)


def middle_of(box: carla.BoundingBox, transform: carla.Transform) -> carla.Vector3D:
    """The middle of a box in the world. (`Transform.transform` overwrites its argument: it gets a copy.)"""
    place = box.location
    return transform.transform(carla.Vector3D(x=place.x, y=place.y, z=place.z))


def pose_of(actor: carla.Actor) -> tuple[float, float, float, float]:
    """x, y of the middle of the actor's box, yaw in radians, and speed."""
    transform = actor.get_transform()
    middle = middle_of(actor.bounding_box, transform)
    velocity = actor.get_velocity()
    return middle.x, middle.y, math.radians(transform.rotation.yaw), math.hypot(velocity.x, velocity.y)


def size_of(actor: carla.Actor) -> tuple[float, float, float]:
    """Length, width and height of the actor's box; CARLA keeps halves."""
    half = actor.bounding_box.extent
    return 2.0 * half.x, 2.0 * half.y, 2.0 * half.z


def paint_of(actor: carla.Actor) -> tuple[float, ...]:
    """The car's colour, grey if its blueprint has none."""
    written = actor.attributes.get("color")
    return tuple(float(part) for part in written.split(",")) if written else GREY


def turn_of(branch: carla.Waypoint, yaw: float) -> float:
    """By how many degrees a branch will have turned; branches begin alike, so this looks ahead."""
    ahead = (branch.next(TURN_AHEAD) or [branch])[0]
    return abs(math.remainder(ahead.transform.rotation.yaw - yaw, 360.0))


def plan_of(town: carla.Map, actor: carla.Actor) -> Floats:
    """Where a car will drive if it keeps its lane, at junctions the branch that turns least: (PLAN_POINTS, 2)."""
    point, out = town.get_waypoint(actor.get_transform().location), np.empty((PLAN_POINTS, 2))
    for k in range(PLAN_POINTS):
        branches = point.next(PLAN_SPACING)
        if branches:
            yaw = point.transform.rotation.yaw
            point = branches[0] if len(branches) == 1 else min(branches, key=lambda branch: turn_of(branch, yaw))
        out[k] = point.transform.location.x, point.transform.location.y
    return out


def cars_round(town: carla.Map, ego: carla.Actor, actors: Iterable[carla.Actor]) -> Cars:
    """The other cars within sight of the ego and on its level, nearest first."""
    here, found = ego.get_transform().location, []
    for actor in actors:
        place = actor.get_transform().location
        away = math.hypot(place.x - here.x, place.y - here.y)
        if actor.id != ego.id and away < SIGHT and abs(place.z - here.z) <= STOREY:
            found.append((away, actor.id, actor))
    near = [actor for _, _, actor in sorted(found, key=lambda row: row[:2])]
    return Cars(
        np.array([pose_of(actor) for actor in near]).reshape(-1, 4),
        np.array([size_of(actor) for actor in near]).reshape(-1, 3),
        np.array([paint_of(actor) for actor in near]).reshape(-1, 3),
        np.array([plan_of(town, actor) for actor in near]).reshape(-1, PLAN_POINTS, 2),
    )
