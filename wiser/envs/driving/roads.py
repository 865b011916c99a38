"""Roads as reference lines with lanes on both sides, and what a map holds besides: stop lines and signs.

Coordinates are CARLA's, in every module of this package: x and y in metres with y pointing *right* when x points
ahead (left-handed), yaw in radians growing *clockwise* seen from above. Ahead is ``(cos yaw, sin yaw)``, to the right
is ``(-sin yaw, cos yaw)``, and a positive curvature bends to the right. CARLA itself speaks degrees; only its backend
converts. Traffic keeps to the right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LANE_WIDTH = 3.5
SAMPLE = 0.5  # metres between the points of a sampled reference line


@dataclass(frozen=True)
class Road:
    """A reference line of straight and circular pieces, with lanes right (along it) and left (against it).

    Lane numbers are OpenDRIVE's: -1, -2, ... to the right of the line, 1, 2, ... to its left, counted outwards.
    A road inside a junction has one lane, -1, and says which lane it comes from and which it leads to.
    """

    id: int
    start: tuple[float, float]
    yaw: float
    pieces: tuple[tuple[float, float], ...]  # (length, curvature)
    right: int = 1
    left: int = 0
    width: float = LANE_WIDTH
    source: tuple[int, int] | None = None  # (road, lane) a connecting road comes from
    target: tuple[int, int] | None = None

    @property
    def connecting(self) -> bool:
        """Whether the road lies inside a junction."""
        return self.source is not None

    @property
    def length(self) -> float:
        """Length of the reference line in metres."""
        return sum(length for length, _ in self.pieces)

    @property
    def lanes(self) -> tuple[int, ...]:
        """Lane numbers from the leftmost to the rightmost."""
        return tuple(range(self.left, 0, -1)) + tuple(-lane for lane in range(1, self.right + 1))

    @cached_property
    def joints(self) -> tuple[tuple[float, float, float, float], ...]:
        """(distance, x, y, yaw) where each piece begins, and at the end of the last."""
        out, (x, y), yaw, s = [], self.start, self.yaw, 0.0
        for length, curvature in self.pieces:
            out.append((s, x, y, yaw))
            x, y, yaw = advance(x, y, yaw, length, curvature)
            s += length
        return (*out, (s, x, y, yaw))

    def poses(self, s: Floats, offset: Floats | float = 0.0) -> Floats:
        """Positions and yaws at distances `s` (P,) along the line, `offset` metres to its right: (P, 3)."""
        out = np.empty((len(s), 3))
        for (begin, x, y, yaw), (_, curvature) in zip(self.joints, self.pieces, strict=False):
            here = s >= begin
            along = s[here] - begin
            turned = yaw + along * curvature
            if curvature == 0.0:
                out[here] = np.stack([x + along * math.cos(yaw), y + along * math.sin(yaw), turned], axis=1)
            else:
                dx, dy = np.sin(turned) - math.sin(yaw), math.cos(yaw) - np.cos(turned)
                out[here] = np.stack([x + dx / curvature, y + dy / curvature, turned], axis=1)
        out[:, 0], out[:, 1] = out[:, 0] - offset * np.sin(out[:, 2]), out[:, 1] + offset * np.cos(out[:, 2])
        return out

    def pose(self, s: float, offset: float = 0.0) -> tuple[float, float, float]:
        """One of `poses`."""
        x, y, yaw = self.poses(np.array([s]), offset)[0]
        return float(x), float(y), float(yaw)

    def line(self, offset: float = 0.0) -> Floats:
        """The reference line moved `offset` metres to the right, sampled every half metre: (P, 3) x, y, yaw."""
        count = max(2, math.ceil(self.length / SAMPLE) + 1)
        return self.poses(np.linspace(0.0, self.length, count), offset)

    def lane_centre(self, lane: int) -> Floats:
        """Centre of a lane in driving direction: (P, 3) x, y, yaw."""
        if lane < 0:
            return self.line((-lane - 0.5) * self.width)
        points = self.line(-(lane - 0.5) * self.width)[::-1].copy()
        points[:, 2] += math.pi
        return points

    def lane_mouth(self, lane: int, leaving: bool) -> tuple[float, float, float]:
        """Pose of the lane's left edge, in driving direction, where traffic leaves (or enters) the road by it."""
        at_end = (lane < 0) == leaving
        side = (abs(lane) - 1) * self.width * (1 if lane < 0 else -1)
        x, y, yaw = self.pose(self.length if at_end else 0.0, side)
        return x, y, yaw if lane < 0 else yaw + math.pi


@dataclass(frozen=True)
class Sign:
    """A stop sign (OpenDRIVE type 206) on its pole; `yaw` is the direction of the traffic it speaks to."""

    x: float
    y: float
    yaw: float
    road: int
    lane: int
    s: float


class Corridor(NamedTuple):
    """Parallel lanes that share one reference line: where traffic lives, in distance along and offset to the right."""

    line: Floats  # (P, 3) x, y, yaw every half metre
    lanes: Floats  # (L,) offset of each lane's centre to the right


@dataclass(frozen=True)
class RoadMap:
    """One map: its roads, the outlines of its junctions, stop lines and signs."""

    name: str
    town: str
    roads: tuple[Road, ...]
    outline: Floats = field(default_factory=lambda: np.zeros((0, 2)))  # (V, 2) kerb round the junction, if any
    stop_lines: tuple[tuple[float, float, float, float], ...] = ()  # x0, y0, x1, y1
    signs: tuple[Sign, ...] = ()
    pavement: float = 2.0  # width of the pavement beside the kerb, metres
    stage: tuple[int, ...] = ()  # roads whose reference lines, joined, carry the traffic; lanes of the first

    def road(self, road_id: int) -> Road:
        """The road with this number."""
        return next(road for road in self.roads if road.id == road_id)

    def corridor(self) -> Corridor:
        """The road that carries the traffic."""
        roads = [self.road(number) for number in self.stage]
        line = np.concatenate([road.line()[:, :2] for road in roads]) if roads else np.array([[0.0, 0.0], [1.0, 0.0]])
        keep = np.concatenate([[True], np.hypot(*np.diff(line, axis=0).T) > 1e-3])
        lanes = [(-lane - 0.5) * roads[0].width for lane in roads[0].lanes] if roads else [0.0]
        return Corridor(resample(line[keep], SAMPLE), np.array(lanes))


def advance(x: float, y: float, yaw: float, length: float, curvature: float) -> tuple[float, float, float]:
    """Pose after `length` metres along a line (curvature 0) or a circle."""
    if curvature == 0.0:
        return x + length * math.cos(yaw), y + length * math.sin(yaw), yaw
    turned = yaw + length * curvature
    radius = 1.0 / curvature
    return x + radius * (math.sin(turned) - math.sin(yaw)), y - radius * (math.cos(turned) - math.cos(yaw)), turned


def fillet(
    begin: tuple[float, float, float], end: tuple[float, float, float], share: float = 1.0
) -> tuple[tuple[float, float], ...]:
    """Pieces that lead from one pose to another: straight, one tangent circle, straight.

    `share` is how much of the shorter straight the circle may use up; less makes a tighter turn.
    """
    (x0, y0, yaw0), (x1, y1, yaw1) = begin, end
    turn = math.remainder(yaw1 - yaw0, 2 * math.pi)
    if abs(turn) < 0.01:
        return ((math.hypot(x1 - x0, y1 - y0), 0.0),)
    cross = math.sin(turn)
    before = ((x1 - x0) * math.sin(yaw1) - (y1 - y0) * math.cos(yaw1)) / cross
    after = ((x1 - x0) * math.sin(yaw0) - (y1 - y0) * math.cos(yaw0)) / -cross
    tangent = share * min(before, after)
    radius = tangent / math.tan(abs(turn) / 2)
    arc = (radius * abs(turn), math.copysign(1.0 / radius, turn))
    pieces = ((before - tangent, 0.0), arc, (after - tangent, 0.0))
    return tuple(piece for piece in pieces if piece[0] > 1e-6)


def connect(number: int, source: Road, source_lane: int, target: Road, target_lane: int, share: float = 1.0) -> Road:
    """A one-lane road through a junction, from one lane's end to another's beginning."""
    begin, end = source.lane_mouth(source_lane, leaving=True), target.lane_mouth(target_lane, leaving=False)
    return Road(
        id=number,
        start=begin[:2],
        yaw=begin[2],
        pieces=fillet(begin, end, share),
        width=source.width,
        source=(source.id, source_lane),
        target=(target.id, target_lane),
    )


def resample(points: Floats, spacing: float) -> Floats:
    """Points every `spacing` metres along a polyline (P, 2), with the direction of travel: (Q, 3)."""
    steps = np.hypot(*np.diff(points, axis=0).T)
    distance = np.concatenate([[0.0], np.cumsum(steps)])
    along = np.arange(0.0, distance[-1], spacing)
    x, y = np.interp(along, distance, points[:, 0]), np.interp(along, distance, points[:, 1])
    yaw = np.unwrap(np.arctan2(np.gradient(y), np.gradient(x)))
    return np.stack([x, y, yaw], axis=1)
