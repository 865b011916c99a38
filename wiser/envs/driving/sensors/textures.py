"""The ground as textures: each map is drawn once per style, with a chain of halved copies for smooth shrinking.

A texel of the camera's ground is 12.5 cm at the finest level, of the views from above 25 cm. Kernels pick the level
whose texel is about half a pixel, and sample it bilinearly: markings stay smooth from a close-up to the horizon.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving import tasks
from wiser.envs.driving.roads import Floats, Road, RoadMap

LEVELS = 6
EDGE_INSET = 0.25  # metres from an edge line to the kerb
MARGIN = 40.0  # metres of ground round the roads; beyond, the edge repeats
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Style:
    """Colours of the ground in one kind of view."""

    ground: Colour
    pavement: Colour
    kerb: Colour
    asphalt: Colour
    white: Colour
    yellow: Colour
    marking: float  # width of a marking, metres
    texel: float  # metres, at the finest level
    grain: float = 0.0  # strength of a fixed speckle


STYLES = {
    "birdeye": Style(
        (26, 32, 34), (98, 98, 100), (150, 148, 144), (66, 62, 64), (236, 236, 232), (232, 184, 62), 0.30, 0.25
    ),
    "camera": Style(
        (96, 128, 72), (158, 154, 146), (198, 194, 186), (88, 89, 94), (238, 238, 232), (232, 186, 70), 0.18, 0.125, 7.0
    ),
    "lidar": Style(
        (64, 34, 92), (86, 48, 116), (196, 120, 190), (34, 44, 104), (120, 140, 210), (120, 140, 210), 0.30, 0.25
    ),
}


class Texture(NamedTuple):
    """A chain of images in one flat array."""

    texels: NDArray[np.uint64]  # (total,) packed colours: red, green and blue 16 bits apart
    levels: NDArray[np.int64]  # (LEVELS, 3) first texel, rows, columns
    origin: Floats  # (2,) x, y of the corner of texel (0, 0); columns run along x, rows along y
    texel: float  # metres at the finest level


class Canvas:
    """Draws in metres, at half a texel per pixel."""

    def __init__(self, low: Floats, high: Floats, style: Style) -> None:
        self.low, self.scale = low, 2.0 / style.texel
        cells = 2 ** (LEVELS - 1)
        columns, rows = (math.ceil(extent / style.texel / cells) * cells * 2 for extent in high - low)
        self.image = np.full((rows, columns, 3), style.ground, np.uint8)

    def pixels(self, points: Floats) -> NDArray[np.int32]:
        """Points (P, 2) in metres as cv2 wants them, with 4 fractional bits."""
        return np.round(((points - self.low) * self.scale - 0.5) * 16.0).astype(np.int32).reshape(-1, 1, 2)

    def polygon(self, points: Floats, colour: Colour) -> None:
        """Fill a polygon."""
        cv2.fillPoly(self.image, [self.pixels(points)], colour, cv2.LINE_AA, shift=4)

    def stroke(self, points: Floats, width: float, colour: Colour) -> None:
        """Draw a polyline of some width; flat ends, so that dashes keep their length."""
        for begin, end in itertools.pairwise(points):
            along = (end - begin) / max(float(np.hypot(*(end - begin))), 1e-9)
            side = np.array([-along[1], along[0]]) * width / 2
            self.polygon(np.array([begin + side, end + side, end - side, begin - side]), colour)


class Marking(NamedTuple):
    """A painted line."""

    line: Floats  # (P, 2)
    yellow: bool = False
    thin: bool = False


@dataclass(frozen=True, eq=False)
class Surface:
    """What is drawn of a map, wherever it came from."""

    shapes: list[Floats]  # (V, 2) each: outlines of asphalt
    markings: list[Marking]
    stop_lines: Sequence[tuple[float, float, float, float]]  # x0, y0, x1, y1
    pavement: float  # width beside the kerb, metres


def dashes(line: Floats) -> list[Floats]:
    """Pieces of a line sampled every half metre: 3 m painted, 6 m bare."""
    return [line[first : first + 7] for first in range(0, len(line) - 7, 18)]


def _markings(road: Road) -> list[Marking]:
    """Edge lines and lane lines; the line between opposite directions is yellow, the ones between lanes are dashed."""
    out = []
    for number in range(-road.left, road.right + 1):
        line = road.line(number * road.width)[:, :2]
        if number == 0 and road.left:
            out.append(Marking(line, yellow=True))
        elif number in (-road.left, road.right):
            inset = EDGE_INSET if number == road.right else -EDGE_INSET
            out.append(Marking(road.line(number * road.width - inset)[:, :2], thin=True))
        else:
            out += [Marking(dash) for dash in dashes(line)]
    return out


def surface_of(road_map: RoadMap) -> Surface:
    """The surface of a map of ours."""
    shapes = [
        np.concatenate([road.line(-road.left * road.width)[:, :2], road.line(road.right * road.width)[::-1, :2]])
        for road in road_map.roads
    ]
    markings = [mark for road in road_map.roads if not road.connecting for mark in _markings(road)]
    outline = [road_map.outline] if len(road_map.outline) else []
    return Surface(shapes + outline, markings, road_map.stop_lines, road_map.pavement)


def draw_surface(surface: Surface, style: Style) -> Canvas:
    """Asphalt, kerbs, pavements and markings."""
    points = np.concatenate(surface.shapes)
    canvas = Canvas(points.min(axis=0) - MARGIN, points.max(axis=0) + MARGIN, style)
    for width, colour in ((2 * surface.pavement, style.pavement), (0.5, style.kerb)):
        for shape in surface.shapes:
            outline = canvas.pixels(shape)
            thickness = max(1, round(width * canvas.scale))
            cv2.polylines(canvas.image, [outline], True, colour, thickness, cv2.LINE_AA, shift=4)
    for shape in surface.shapes:
        canvas.polygon(shape, style.asphalt)
    for mark in surface.markings:
        width = style.marking * (0.8 if mark.thin else 1.0)
        canvas.stroke(mark.line, width, style.yellow if mark.yellow else style.white)
    for x0, y0, x1, y1 in surface.stop_lines:
        canvas.stroke(np.array([[x0, y0], [x1, y1]]), 0.5, style.white)
    return canvas


def halve(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Average 2 x 2 blocks."""
    return np.asarray(
        cv2.resize(image, (image.shape[1] // 2, image.shape[0] // 2), interpolation=cv2.INTER_AREA), np.uint8
    )


def pack(image: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The three channels of each pixel in one word, red lowest, 16 bits apart: (H * W,)."""
    wide = image.reshape(-1, 3).astype(np.uint64)
    return wide[:, 0] | wide[:, 1] << np.uint64(16) | wide[:, 2] << np.uint64(32)


def draw_texture(surface: Surface, style: Style) -> Texture:
    """Draw a surface in one style."""
    canvas = draw_surface(surface, style)
    image = halve(canvas.image)
    if style.grain:
        noise = np.random.default_rng(0).normal(0.0, style.grain, image.shape[:2])
        noise += cv2.resize(noise[::8, ::8], noise.shape[::-1]) * 0.7
        image = np.clip(image + noise[..., None], 0, 255).astype(np.uint8)
    chain = [image]
    while len(chain) < LEVELS:
        chain.append(halve(chain[-1]))
    sizes = [level.shape[0] * level.shape[1] for level in chain]
    table = [(sum(sizes[:i]), level.shape[0], level.shape[1]) for i, level in enumerate(chain)]
    return Texture(np.concatenate([pack(level) for level in chain]), np.array(table), canvas.low, style.texel)


@lru_cache
def ground(task: str, style: str) -> Texture:
    """The ground of a task's map; drawn once per process, shared by every world and by tasks on the same map."""
    return _ground_of(tasks.TASKS[task].road_map().name, style)


@lru_cache
def _ground_of(name: str, style: str) -> Texture:
    return draw_texture(surface_of(tasks.TASKS[name].road_map()), STYLES[style])


@lru_cache(maxsize=3)
def ground_on(surface: Surface, style: str) -> Texture:
    """The ground of a surface that is not a map of ours; the last few are kept."""
    return draw_texture(surface, STYLES[style])
