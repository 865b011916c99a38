"""The three places of the tasks, written by hand in the coordinates of CARLA's towns.

Each map is the neighbourhood of one task. Straight stretches are a little longer than in the town, so that traffic
can flow on and off the stage. `tools/check_towns.py` measures how far our lanes lie from the real ones.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from wiser.envs.driving.roads import LANE_WIDTH, Floats, Road, RoadMap, Sign, connect, fillet


def straight(number: int, start: tuple[float, float], end: tuple[float, float], right: int, left: int = 0) -> Road:
    """A straight road between two points of its reference line."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    return Road(number, start, math.atan2(dy, dx), ((math.hypot(dx, dy), 0.0),), right=right, left=left)


@lru_cache
def four_lane() -> RoadMap:
    """Town04, the motorway: four lanes each way, leaning 0.26 degrees from the y axis as in the town."""
    lean = 0.00456  # metres of x per metre of y
    ours = [(3.15 + lean * y, y) for y in (215.0, -175.0)]
    opposite = [(-3.82 + lean * y, y) for y in (-175.0, 215.0)]
    roads = (straight(1, ours[0], ours[1], right=4), straight(2, opposite[0], opposite[1], right=4))
    return RoadMap("FourLane", "Town04", roads, pavement=1.0, stage=(1,))


@lru_cache
def right_turn() -> RoadMap:
    """Town03: one lane each way from west and east meets two lanes each way, with a median, from north and south."""
    west = straight(1, (-75.17, -138.12), (-13.41, -136.81), right=1, left=1)
    east = straight(2, (19.22, -136.12), (80.78, -134.81), right=1, left=1)
    north_in = straight(3, (2.54, -194.18), (1.42, -149.04), right=2)
    north_out = straight(4, (4.92, -148.94), (6.05, -194.08), right=2)
    south_in = straight(5, (2.16, -35.00), (4.30, -123.89), right=2)
    south_out = straight(6, (0.80, -123.99), (-1.34, -35.10), right=2)
    tight = 0.72  # the town's turns are straight first and then sharper than one circle from mouth to mouth
    corners = [  # the right turns, in the order in which their kerbs run round the junction
        connect(10, west, -1, south_out, -2, tight),
        connect(11, south_in, -2, east, -1, tight),
        connect(12, east, 1, north_out, -2, tight),
        connect(13, north_in, -2, west, 1, tight),
    ]
    others = [
        connect(14, west, -1, east, -1, tight),
        connect(15, east, 1, west, 1, tight),
        connect(16, north_in, -1, south_out, -1, tight),
        connect(17, north_in, -2, south_out, -2, tight),
        connect(18, south_in, -1, north_out, -1, tight),
        connect(19, south_in, -2, north_out, -2, tight),
        connect(20, west, -1, north_out, -1, tight),
        connect(21, north_in, -1, east, -1, tight),
        connect(22, east, 1, south_out, -1, tight),
        connect(23, south_in, -1, west, 1, tight),
    ]
    arms = (west, east, north_in, north_out, south_in, south_out)
    return RoadMap(
        "RightTurn",
        "Town03",
        (*arms, *corners, *others),
        outline=_outline(corners),
        stop_lines=(_line_across(west, -1), _line_across(east, 1)),
        stage=(3, 16, 6),
    )


@lru_cache
def stop_sign() -> RoadMap:
    """Town04, the crossing in the village: one lane each way on all four arms, a stop sign from the west."""
    west = straight(1, (131.33, -171.67), (191.19, -171.31), right=1, left=1)
    east = straight(2, (210.60, -171.21), (256.95, -170.96), right=1, left=1)
    north = straight(3, (202.13, -247.47), (200.59, -180.46), right=1, left=1)
    mouth = (200.19, -162.17, math.pi / 2 + 0.0217)
    south = Road(4, mouth[:2], mouth[2], fillet(mouth, (260.25, -120.80, 0.0)), right=1, left=1)
    corners = [
        connect(10, west, -1, south, -1),
        connect(11, south, 1, east, -1),
        connect(12, east, 1, north, 1),
        connect(13, north, -1, west, 1),
    ]
    others = [
        connect(14, west, -1, east, -1),
        connect(15, east, 1, west, 1),
        connect(16, north, -1, south, -1),
        connect(17, south, 1, north, 1),
        connect(18, west, -1, north, 1),
        connect(19, north, -1, east, -1),
        connect(20, east, 1, south, -1),
        connect(21, south, 1, west, 1),
    ]
    x, y, yaw = west.pose(west.length - 0.2, LANE_WIDTH + 0.9)
    return RoadMap(
        "StopSign",
        "Town04",
        (west, east, north, south, *corners, *others),
        outline=_outline(corners),
        stop_lines=(_line_across(west, -1),),
        signs=(Sign(x, y, yaw, road=1, lane=-1, s=west.length - 0.2),),
    )


def _outline(corners: list[Road]) -> Floats:
    """The kerb round a junction: the right edges of its right turns, one after the other."""
    return np.concatenate([corner.line(corner.width)[:, :2] for corner in corners])


def _line_across(road: Road, lane: int) -> tuple[float, float, float, float]:
    """A stop line over one lane, just before its traffic leaves the road."""
    s = road.length - 0.3 if lane < 0 else 0.3
    inner, outer = (abs(lane) - 1) * road.width + 0.2, abs(lane) * road.width - 0.2
    side = 1 if lane < 0 else -1
    return (*road.pose(s, side * inner)[:2], *road.pose(s, side * outer)[:2])
