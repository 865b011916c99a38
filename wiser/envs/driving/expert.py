"""A scripted driver that solves every task: the 1 of the expert-normalised score.

It steers by pure pursuit on the route and takes the smallest of several accelerations: towards the target speed,
behind the car ahead on the route (IDM), before a stop point that is still owed, and before a lane it must not cut
into yet. Where no gap comes by itself it waits, and the traffic lets it in.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.drivers import idm
from wiser.envs.driving.dynamics import LENGTH, MAX_STEER, WHEELBASE, WIDTH
from wiser.envs.driving.tasks import ACCELERATIONS, SETTLED, STOP_STEPS, TARGET_SPEED, WAYPOINT_SPACING
from wiser.kernels import kernel

LOOK_AHEAD = 4  # waypoints, 3.2 m
HORIZON = 24  # waypoints searched for a car ahead
COMMITTED = 4  # waypoints past the waiting place beyond which stopping would be in somebody's way
EAGER = 2.2  # a wish for 0.45 m/s^2 is enough to press a pedal that knows only 2 m/s^2


@kernel
def pursue(ego, route, count, index):  # type: ignore[no-untyped-def]
    """Steering (positive to the left) that leads the middle of the car to a point on the route."""
    target = route[min(index + LOOK_AHEAD, count - 1)]
    dx, dy = target[0] - ego[0], target[1] - ego[1]
    reach = max(dx * dx + dy * dy, 1.0)
    aside = dy * math.cos(ego[2]) - dx * math.sin(ego[2])
    wheel = math.atan(WHEELBASE * 2.0 * aside / reach)
    return min(max(-wheel / MAX_STEER, -1.0), 1.0)


@kernel
def route_gap(car, size, route, count, index, seconds):  # type: ignore[no-untyped-def]
    """Metres of route free before a car's place `seconds` from now; infinite if it is not on the route."""
    x = car[0] + car[3] * math.cos(car[2]) * seconds
    y = car[1] + car[3] * math.sin(car[2]) * seconds
    for k in range(index, min(index + HORIZON, count)):
        dx, dy = x - route[k, 0], y - route[k, 1]
        turned = car[2] - route[k, 2]
        long = 0.5 * (size[0] * abs(math.cos(turned)) + size[1] * abs(math.sin(turned)))
        wide = 0.5 * (size[0] * abs(math.sin(turned)) + size[1] * abs(math.cos(turned)))
        ahead = dx * math.cos(route[k, 2]) + dy * math.sin(route[k, 2])
        aside = dy * math.cos(route[k, 2]) - dx * math.sin(route[k, 2])
        if abs(aside) < wide + 0.5 * WIDTH + 0.25 and abs(ahead) < long + 0.5 * WAYPOINT_SPACING:
            return (k - index) * WAYPOINT_SPACING - 0.5 * LENGTH
    return np.inf


@kernel
def follow(ego, cars, size, present, route, count, index):  # type: ignore[no-untyped-def]
    """IDM behind whatever stands on the route now, or will soon if it comes from the side."""
    speed, wanted = ego[3], 4.0 * (TARGET_SPEED - ego[3])
    for n in range(cars.shape[0]):
        if not present[n] or (cars[n, 0] - ego[0]) ** 2 + (cars[n, 1] - ego[1]) ** 2 > 900.0:
            continue
        turned = math.cos(cars[n, 2] - ego[2])
        gap = route_gap(cars[n], size[n], route, count, index, 0.0)
        if gap < np.inf:
            wanted = min(wanted, idm(speed, TARGET_SPEED, gap, cars[n, 3] * max(turned, 0.0)))
        if turned < 0.9:
            for seconds in (0.6, 1.2):
                gap = route_gap(cars[n], size[n], route, count, index, seconds)
                wanted = min(wanted, brake_towards(speed, max(gap - 0.4, 0.0)))
    return wanted


@kernel
def gap_is_open(ego, cars, size, present, merge, bound, distance):  # type: ignore[no-untyped-def]
    """Whether the ego can be at the merge waypoint, `distance` metres on, without cutting anybody off.

    `bound` is a later waypoint, in the middle of the new lane: cars near its line are the ones that matter.
    """
    speed = ego[3]
    arrival = (math.sqrt(speed * speed + 4.0 * distance) - speed) / 2.0 if speed < 3.0 else distance / speed
    ahead_x, ahead_y = math.cos(bound[2]), math.sin(bound[2])
    for n in range(cars.shape[0]):
        if not present[n]:
            continue
        if abs((bound[1] - cars[n, 1]) * ahead_x - (bound[0] - cars[n, 0]) * ahead_y) > 2.2:
            continue
        dx, dy = merge[0] - cars[n, 0], merge[1] - cars[n, 1]
        behind = dx * ahead_x + dy * ahead_y - cars[n, 3] * arrival  # metres the car is short of the merge point
        room = 0.5 * (LENGTH + size[n, 0]) + 1.0
        if -room < behind < room + 0.5 + 1.3 * max(cars[n, 3] - speed, 0.0):
            return False
    return True


@kernel
def before_yield(ego, cars, size, present, route, index, yields):  # type: ignore[no-untyped-def]
    """Acceleration allowed by the next place where the route cuts into another lane."""
    for y in range(yields.shape[0]):
        hold, merge = yields[y]
        if merge < 0 or index > merge or hold - index > 12:
            continue
        distance = max((merge - index) * WAYPOINT_SPACING, 0.0)
        if gap_is_open(ego, cars, size, present, route[merge], route[merge + SETTLED], distance):
            return np.inf
        if index > hold + COMMITTED:
            return np.inf
        return brake_towards(ego[3], max(hold - index, 0) * WAYPOINT_SPACING)
    return np.inf


@kernel
def brake_towards(speed, distance):  # type: ignore[no-untyped-def]
    """Acceleration that comes to rest after `distance` metres; not braking yet if that is far away."""
    if distance < 0.25:
        return -3.0 if speed > 0.0 else -1.0
    needed = speed * speed / (2.0 * distance)
    if needed > 1.2:
        return -1.2 * needed
    return -0.1 if needed > 0.8 else np.inf


@kernel
def drive(ego, cars, size, present, route, count, index, yields, route_stop, held, out):  # type: ignore[no-untyped-def]
    """Acceleration and steering of every ego: out (B, 2)."""
    for b in range(ego.shape[0]):
        wanted = follow(ego[b], cars[b], size[b], present[b], route[b], count[b], index[b])
        allowed = before_yield(ego[b], cars[b], size[b], present[b], route[b], index[b], yields[b])
        wanted = min(wanted, allowed)
        if route_stop[b] >= 0 and held[b] < STOP_STEPS:
            stop = route[b, route_stop[b]]
            ahead = (stop[0] - ego[b, 0]) * math.cos(stop[2]) + (stop[1] - ego[b, 1]) * math.sin(stop[2])
            wanted = min(wanted, brake_towards(ego[b, 3], max(ahead, 0.0)))
        out[b, 0] = min(max(wanted, -3.0), 3.0)
        out[b, 1] = pursue(ego[b], route[b], count[b], index[b])


def to_discrete(commands: NDArray[np.float64], steers: tuple[float, ...]) -> NDArray[np.int64]:
    """The discrete action nearest to each command (B, 2)."""
    pedal = np.abs(commands[:, :1] * EAGER - np.array(ACCELERATIONS)).argmin(axis=1)
    wheel = np.abs(commands[:, 1:] - np.array(steers)).argmin(axis=1)
    return pedal * 5 + wheel


def to_probabilities(commands: NDArray[np.float64], steers: tuple[float, ...]) -> NDArray[np.float32]:
    """The discrete actions on either side of each command (B, 2), weighted so that their mean is the command: (B, 15).

    What to imitate: it changes smoothly with the state, where the nearest action jumps.
    """
    pedal = _between(commands[:, 0] * EAGER, np.array(ACCELERATIONS))  # (B, 3)
    wheel = _between(commands[:, 1], np.array(steers))  # (B, 5)
    return (pedal[:, :, None] * wheel[:, None]).reshape(len(commands), -1).astype(np.float32)


def _between(values: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (B, P) of the two places next to each value, in proportion to its nearness."""
    values = values.clip(places[0], places[-1])
    above = np.searchsorted(places, values).clip(1, len(places) - 1)
    share = (values - places[above - 1]) / (places[above] - places[above - 1])
    rows, weights = np.arange(len(values)), np.zeros((len(values), len(places)))
    weights[rows, above - 1], weights[rows, above] = 1 - share, share
    return weights
