"""A robot arm that pours from a pitcher into a glass, drawn with OpenCV: how a scene looks, and one picture of it.

Places are fractions of the picture, x to the right and y down. A scene is drawn four times as large and made smaller,
so that movements of a fraction of a pixel show.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

SIDE = 64
"""Pixels of a picture's side."""
FINE = 4 * SIDE
"""Pixels of the side that is drawn on."""
SUBPIXEL = 4
"""Bits after the point of OpenCV's coordinates."""

Picture = NDArray[np.uint8]
"""(H, W, 3), RGB."""
Place = NDArray[np.float64]
"""(2,) or, of a shape, (corners, 2)."""
Colour = tuple[int, int, int]

LINKS = (0.40, 0.38)
"""Lengths of upper and lower arm."""
PITCHER = np.array([(-0.16, -0.10), (-0.005, -0.10), (-0.015, 0.09), (-0.125, 0.09)])
"""Corners seen from the hand that holds it; the first is the lip."""
LIP = PITCHER[0]
GLASS = (0.075, 0.17)
"""Half its width at the top, and its height."""


@dataclass(frozen=True)
class Pose:
    """What changes from picture to picture."""

    hand: tuple[float, float]
    tilt: float
    """Of the pitcher, in radians."""
    pitcher: float
    """How full it is, 0 to 1."""
    glass: float
    flow: float
    """Width of the stream, 0 to 1."""

    @property
    def shape(self) -> Place:
        """Corners of the pitcher."""
        return np.array(self.hand) + PITCHER @ turn(self.tilt).T  # (4, 2)


@dataclass(frozen=True)
class Look:
    """What stays as it is through a clip."""

    wall: Colour
    table: Colour
    couch: Colour
    flowers: Colour
    arm: Colour
    clay: Colour
    """Of the pitcher."""
    liquid: Colour
    preserve: Colour
    """What the jar holds."""
    horizon: float
    shelf: float
    """Where couch and vase stand."""
    jar: float
    glass: float
    base: float
    mirrored: bool

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Look:
        """A scene at random."""
        couch, clay, liquid, preserve = (colour(rng, (0.4, 0.8), (0.45, 0.85)) for _ in range(4))
        return cls(
            wall=colour(rng, (0.05, 0.35), (0.7, 0.95)), table=colour(rng, (0.05, 0.45), (0.6, 0.95)), couch=couch,
            flowers=colour(rng, (0.0, 0.6), (0.85, 1.0)), arm=colour(rng, (0.0, 0.12), (0.8, 1.0)), clay=clay,
            liquid=liquid, preserve=preserve, horizon=rng.uniform(0.58, 0.68), shelf=rng.uniform(0.1, 0.6),
            jar=rng.uniform(0.08, 0.16), glass=rng.uniform(0.32, 0.46), base=rng.uniform(0.86, 0.94),
            mirrored=bool(rng.integers(2)),
        )  # fmt: skip

    @cached_property
    def still(self) -> Picture:
        """All that never moves, (FINE, FINE, 3)."""
        canvas = np.empty((FINE, FINE, 3), np.uint8)
        canvas[:] = self.wall
        box(canvas, self.shelf, self.horizon - 0.16, self.shelf + 0.38, self.horizon + 0.02, self.couch)
        box(canvas, self.shelf + 0.03, self.horizon - 0.09, self.shelf + 0.35, self.horizon + 0.02, dim(self.couch))
        vase = self.shelf - 0.02
        for dx, dy in ((-0.04, -0.27), (0.03, -0.29), (0.0, -0.22), (0.05, -0.22)):
            disc(canvas, (vase + dx, self.horizon + dy), 0.028, self.flowers)
        box(canvas, vase - 0.025, self.horizon - 0.2, vase + 0.03, self.horizon + 0.02, dim(self.wall, 0.7))
        canvas[round(self.horizon * FINE) :] = self.table
        canvas[round(self.horizon * FINE) : round((self.horizon + 0.012) * FINE)] = dim(self.table, 0.8)
        for x, half in ((self.jar, 0.09), (self.glass, 0.09), (self.base, 0.12)):
            disc(canvas, (x, 0.9), half, dim(self.table, 0.85), flat=0.25)
        box(canvas, self.jar - 0.06, 0.66, self.jar + 0.06, 0.9, dim(self.wall, 1.1))
        box(canvas, self.jar - 0.052, 0.72, self.jar + 0.052, 0.89, self.preserve)
        box(canvas, self.jar - 0.065, 0.64, self.jar + 0.065, 0.665, dim(self.clay))
        box(canvas, self.base - 0.07, 0.8, self.base + 0.07, 0.91, (40, 40, 44))
        return canvas


def render(look: Look, pose: Pose) -> Picture:
    """A picture of the scene, (SIDE, SIDE, 3)."""
    canvas = look.still.copy()
    _pour(canvas, look, pose)
    _glass(canvas, look, pose)
    _arm(canvas, look, pose)
    small = cv2.resize(canvas, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(small[:, ::-1] if look.mirrored else small)


def _pour(canvas: Picture, look: Look, pose: Pose) -> None:
    if pose.flow <= 0:
        return
    lip, half = pose.shape[0], 0.004 + 0.014 * pose.flow
    box(canvas, lip[0] - half, lip[1], lip[0] + half, 0.88, look.liquid)


def _glass(canvas: Picture, look: Look, pose: Pose) -> None:
    (half, height), x = GLASS, look.glass
    outline = np.array(
        [(x - half, 0.9 - height), (x + half, 0.9 - height), (x + 0.7 * half, 0.9), (x - 0.7 * half, 0.9)]
    )
    clear = canvas.copy()
    polygon(clear, outline, dim(look.wall, 1.15))
    cv2.addWeighted(clear, 0.45, canvas, 0.55, 0.0, dst=canvas)
    polygon(canvas, below(outline, 0.9 - pose.glass * height * 0.95), look.liquid)
    edge(canvas, outline[[1, 2, 3, 0]], dim(look.wall, 0.6), 0.012)


def _arm(canvas: Picture, look: Look, pose: Pose) -> None:
    shape, foot, hand = pose.shape, np.array((look.base, 0.8)), np.array(pose.hand)
    polygon(canvas, shape, look.clay)
    surface = shape[:, 1].max() - pose.pitcher * 0.8 * (shape[:, 1].max() - shape[:, 1].min())
    inside = below(shape.mean(0) + 0.8 * (shape - shape.mean(0)), surface)
    polygon(canvas, inside, look.liquid)
    edge(canvas, shape, dim(look.clay, 0.6), 0.01)
    elbow = elbow_of(foot, hand)
    for start, end, width in ((foot, elbow, 0.075), (elbow, hand, 0.06)):
        edge(canvas, np.stack((start, end)), dim(look.arm, 0.65), width)
        edge(canvas, np.stack((start, end)), look.arm, width - 0.025)
    for joint, size in ((foot, 0.055), (elbow, 0.045), (hand, 0.032)):
        disc(canvas, (joint[0], joint[1]), size, (34, 34, 38))


def elbow_of(foot: Place, hand: Place) -> Place:
    """Where the elbow of an arm is whose hand is there; out of reach it is stretched."""
    upper, lower = LINKS
    across = hand - foot
    distance = float(np.clip(np.hypot(*across), 1e-6, upper + lower - 1e-6))
    along = (upper**2 - lower**2 + distance**2) / (2 * distance)
    aside = np.sqrt(max(upper**2 - along**2, 0.0))
    unit = across / np.hypot(*across)
    return np.asarray(foot + along * unit + aside * np.array((-unit[1], unit[0])))


def below(corners: Place, level: float) -> Place:
    """The part of a convex shape under a horizontal line, (corners, 2); empty if there is none."""
    kept = []
    for start, end in zip(corners, np.roll(corners, -1, 0), strict=True):
        if start[1] >= level:
            kept.append(start)
        if (start[1] >= level) != (end[1] >= level):
            kept.append(start + (end - start) * (level - start[1]) / (end[1] - start[1]))
    return np.array(kept).reshape(-1, 2)


def turn(angle: float) -> NDArray[np.float64]:
    """Matrix that turns places so that a lip to the left goes down."""
    return np.array([(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))])


def colour(rng: np.random.Generator, saturation: tuple[float, float], value: tuple[float, float]) -> Colour:
    """Of any hue."""
    red, green, blue = colorsys.hsv_to_rgb(rng.random(), rng.uniform(*saturation), rng.uniform(*value))
    return round(255 * red), round(255 * green), round(255 * blue)


def dim(shade: Colour, factor: float = 0.75) -> Colour:
    """Darker, or lighter."""
    red, green, blue = (min(255, round(factor * part)) for part in shade)
    return red, green, blue


def polygon(canvas: Picture, corners: Place, shade: Colour) -> None:
    """A filled convex shape."""
    if len(corners) > 2:
        cv2.fillConvexPoly(canvas, _fixed(corners), shade, cv2.LINE_AA, SUBPIXEL)


def box(canvas: Picture, left: float, top: float, right: float, bottom: float, shade: Colour) -> None:
    """A filled rectangle."""
    polygon(canvas, np.array([(left, top), (right, top), (right, bottom), (left, bottom)]), shade)


def edge(canvas: Picture, corners: Place, shade: Colour, width: float) -> None:
    """A line through all corners."""
    cv2.polylines(canvas, [_fixed(corners)], False, shade, max(1, round(width * FINE)), cv2.LINE_AA, SUBPIXEL)


def disc(canvas: Picture, centre: tuple[float, float], radius: float, shade: Colour, flat: float = 1.0) -> None:
    """A filled ellipse, `flat` times as high as wide."""
    fixed = _fixed(np.array([centre, (radius, radius * flat)]))
    cv2.ellipse(canvas, fixed[0].tolist(), fixed[1].tolist(), 0, 0, 360, shade, -1, cv2.LINE_AA, SUBPIXEL)


def _fixed(places: Place) -> NDArray[np.int32]:
    return np.rint(places * FINE * (1 << SUBPIXEL)).astype(np.int32)
