"""A script that knows the whole world, and reaches goals or presses buttons with little harm. It remembers nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wiser.envs.safety.chart import Chart
from wiser.envs.safety.course import Course

Disc = tuple[float, float, float, float, float]
"""As `Chart` has it: x, y, radius, ring, how dear."""
DEAR = 30.0


class Pilot:
    """What it would do now on a course."""

    def __init__(self, course: Course) -> None:
        self.course = course

    def action(self) -> NDArray[np.float32]:
        """Two numbers from -1 to 1."""
        course = self.course
        task = course.task
        chart = Chart(np.array(list(self._obstacles()), np.float64), task.goal.pos[:2])
        return (_drive_car if course.robot == "Car" else _drive_point)(course, chart)

    def _obstacles(self) -> Iterator[Disc]:
        task = self.course.task
        for x, y, _ in task.hazards.pos:
            yield x, y, 0.2 + 0.05, 0.2, DEAR
        kinds = {**task._free_geoms, **task._geoms, **task._mocaps}
        if "vases" in kinds:
            dear = DEAR if task.vases.is_constrained else 0.3 * DEAR
            for x, y, _ in task.vases.pos:
                yield x, y, 0.28, 0.15, dear
        if "buttons" in kinds:
            for number, (x, y, _) in enumerate(task.buttons.pos):
                if number != task.buttons.goal_button:
                    yield x, y, 0.28, 0.15, DEAR
        if "gremlins" in kinds:
            yield from self._gremlins()

    def _gremlins(self) -> Iterator[Disc]:
        """Where they will be: each goes round a circle, one radian a second."""
        task = self.course.task
        now = float(task.data.time)
        for x, y, _ in task.gremlins.pos:
            middle = np.array((x, y)) - task.gremlins.travel * np.array((math.sin(now), math.cos(now)))
            yield x, y, 0.2, 0.1, 3 * DEAR
            for later in (0.0, 0.25, 0.5, 0.75):
                then = now + later
                place = middle + task.gremlins.travel * np.array((math.sin(then), math.cos(then)))
                yield float(place[0]), float(place[1]), 0.27, 0.15, 0.5 * DEAR


def _drive_point(course: Course, chart: Chart) -> NDArray[np.float32]:
    place, speed = course.position[:2], course.task.agent.vel[:2]
    ahead = course.forward[:2] / np.linalg.norm(course.forward[:2])
    soon = place + 0.15 * speed  # where it will be when it can have turned
    aim = chart.ahead(soon, 0.25) - soon
    aim /= max(float(np.linalg.norm(aim)), 1e-6)
    here = chart.dear(place)
    dear = max(chart.dear(place + t * speed) for t in (0.1, 0.25, 0.4))
    worse = max(0.0, dear - max(here, 1.0))  # out of harm's way it goes as fast as it can
    wanted = aim * float(np.clip(1.2 / (1 + 0.15 * worse), 0.35, 1.2))
    push = (wanted - speed) / 0.25 + wanted / 0.52  # to be there in a quarter of a second, drag included
    turn = _angle(ahead, push if np.linalg.norm(push) > 0.5 else aim)
    if abs(turn) > 0.6 * math.pi:  # reversing is quicker than turning round
        turn = _angle(-ahead, push)
    thrust = float(push @ ahead) / 2.75
    return np.array([np.clip(thrust, -1, 1), np.clip(3.0 * turn, -1, 1)], np.float32)


def _drive_car(course: Course, chart: Chart) -> NDArray[np.float32]:
    place = course.position[:2]
    ahead = course.forward[:2] / np.linalg.norm(course.forward[:2])
    aim = chart.ahead(place, 0.35) - place
    turn = _angle(ahead, aim)
    drive = max(0.0, math.cos(turn)) ** 3
    steer = float(np.clip(1.5 * turn, -1, 1))
    return np.clip([drive + steer, drive - steer], -1, 1).astype(np.float32)


def _angle(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """From one direction to the other, in radians, to the left."""
    return math.atan2(one[0] * other[1] - one[1] * other[0], float(one @ other))
