"""The lidar, drawn from above: 32 rings, 2.4 m above the road, colours by height and reflectance.

The ground shows as dim rings, brighter on kerbs and paint. Cars stop the beams: a bright outline where they are hit,
rings on the roof, darkness behind, up to where beams pass over them.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.dynamics import LENGTH, WIDTH
from wiser.envs.driving.roads import Floats
from wiser.envs.driving.sensors.birdeye import BEHIND, RANGE
from wiser.envs.driving.sensors.primitives import CHANNELS, ROUND, blend, choose_level, fill_box, sample_row, unpack_row
from wiser.kernels import kernel

MOUNT = 2.4  # metres above the road
RINGS, LOWEST, HIGHEST = 32, -30.0, 10.0  # degrees
BEAMS = 720
DARK = 15  # brightness where no beam comes, in 256ths
POLE_RADIUS, POLE_HEIGHT = 0.25, 2.3
EGO = np.array([70.0, 74.0, 92.0])
HEIGHTS = np.array([0.0, 0.9, 1.5, 2.4])  # metres, and their colours:
COLOURS = np.array([[60.0, 60.0, 180.0], [40.0, 190.0, 200.0], [250.0, 220.0, 70.0], [250.0, 90.0, 60.0]])


class Polar(NamedTuple):
    """What never changes for one image size: distance, beam and ring brightness of every pixel."""

    distance: Floats  # (S, S) metres from the sensor
    beam: NDArray[np.int64]  # (S, S) index of the beam that passes
    profile: Floats  # (P,) ring brightness by ground distance, every 5 cm
    ring: NDArray[np.uint64]  # (S, S) that brightness at every pixel, in 256ths
    rays: Floats  # (BEAMS, 2) direction of every beam, ahead and aside


@lru_cache
def polar_table(size: int) -> Polar:
    """The table for images of this size."""
    step = RANGE / size
    ahead = (RANGE - BEHIND) - (np.arange(size) + 0.5) * step
    aside = (np.arange(size) + 0.5) * step - RANGE / 2
    distance = np.hypot(ahead[:, None], aside[None, :])
    bearing = np.arctan2(aside[None, :], ahead[:, None])
    beam = np.floor((bearing + np.pi) / (2 * np.pi) * BEAMS).astype(np.int64) % BEAMS
    profile = ring_profile(step)
    angle = (np.arange(BEAMS) + 0.5) / BEAMS * 2 * np.pi - np.pi
    rays = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ring = np.round(profile[(distance / 0.05).astype(np.int64)] * 256).astype(np.uint64)
    return Polar(distance, beam, profile, ring, rays)


def ring_profile(step: float) -> Floats:
    """Brightness of the ground by distance: a bump where each channel meets the road, one pixel wide at least."""
    reach = np.arange(0.0, 12 * RANGE, 0.05)
    slopes = np.tan(np.radians(-np.linspace(LOWEST, HIGHEST, RINGS)))
    rings = MOUNT / slopes[slopes > 0.01]
    width = max(0.55 * step, 0.12)
    bumps = np.exp(-0.5 * ((reach[:, None] - rings) / width) ** 2)
    return 0.30 + 0.70 * np.minimum(bumps.sum(axis=1), 1.0)


@kernel
def height_colour(height, out):  # type: ignore[no-untyped-def]
    """Colour of a return at some height."""
    for k in range(HEIGHTS.shape[0] - 1):
        if height <= HEIGHTS[k + 1] or k == HEIGHTS.shape[0] - 2:
            f = min((height - HEIGHTS[k]) / (HEIGHTS[k + 1] - HEIGHTS[k]), 1.0)
            for ch in range(3):
                out[ch] = COLOURS[k, ch] + (COLOURS[k + 1, ch] - COLOURS[k, ch]) * f
            return


@kernel
def beam_hits(x, y, c, s, half_length, half_width, ray):  # type: ignore[no-untyped-def]
    """Where a beam from the origin enters and leaves a box: (near, far), near infinite if it misses.

    c and s are the cosine and sine of the box's yaw.
    """
    ox, oy = -(x * c + y * s), -(y * c - x * s)
    dx, dy = ray[0] * c + ray[1] * s, ray[1] * c - ray[0] * s
    near, far = 0.0, 1e9
    for k in range(2):
        o, d, half = (ox, dx, half_length) if k == 0 else (oy, dy, half_width)
        if abs(d) < 1e-9:
            if abs(o) > half:
                return np.inf, 0.0
            continue
        a, b = (-half - o) / d, (half - o) / d
        near, far = max(near, min(a, b)), min(far, max(a, b))
    return (near, far) if near <= far else (np.inf, 0.0)


@kernel
def cast(x, y, yaw, half_length, half_width, height, rays, near, shade, tall):  # type: ignore[no-untyped-def]
    """Shorten the beams that an obstacle stops; x, y, yaw in the ego's axes; arrays (BEAMS,).

    near: first hit; shade: where the ground is seen again behind; tall: height of what was hit.
    """
    reach = math.sqrt(half_length**2 + half_width**2)
    distance = math.sqrt(x * x + y * y)
    if distance - reach > RANGE:
        return
    spread = math.asin(min(reach / max(distance, 1e-6), 1.0)) if distance > reach else math.pi
    middle, c, s = math.atan2(y, x), math.cos(yaw), math.sin(yaw)
    first = math.floor((middle - spread + math.pi) / (2 * math.pi) * BEAMS)
    last = math.ceil((middle + spread + math.pi) / (2 * math.pi) * BEAMS)
    for k in range(first, last + 1):
        k = k % BEAMS
        enter, leave = beam_hits(x, y, c, s, half_length, half_width, rays[k])
        if enter == np.inf:
            continue
        clear = leave * MOUNT / (MOUNT - height) if height < MOUNT - 0.05 else 1e9
        shade[k] = max(shade[k], clear)
        if enter < near[k]:
            near[k], tall[k] = enter, height


@kernel
def draw_roof(x, y, yaw, size, near, polar, image):  # type: ignore[no-untyped-def]
    """Rings on a car's roof, where nothing nearer hides it."""
    pixels = image.shape[0]
    scale = pixels / RANGE
    u, v = pixels / 2 + y * scale, (RANGE - BEHIND - x) * scale
    reach = 0.5 * math.sqrt(size[0] ** 2 + size[1] ** 2) * scale + 1.0
    c, s = math.cos(yaw - math.pi / 2), math.sin(yaw - math.pi / 2)
    colour = np.empty(3)
    height_colour(size[2], colour)
    for i in range(max(0, int(v - reach)), min(pixels, int(v + reach) + 1)):
        for j in range(max(0, int(u - reach)), min(pixels, int(u + reach) + 1)):
            du, dv = j + 0.5 - u, i + 0.5 - v
            inside = (
                min(0.5 * size[0] * scale - abs(du * c + dv * s), 0.5 * size[1] * scale - abs(dv * c - du * s)) + 0.5
            )
            r = polar.distance[i, j]
            if inside <= 0.0 or near[polar.beam[i, j]] < r - reach / scale:
                continue
            ring = polar.profile[min(int(r * MOUNT / max(MOUNT - size[2], 0.3) / 0.05), polar.profile.shape[0] - 1)]
            blend(image, i, j, colour[0], colour[1], colour[2], min(inside, 1.0) * (0.25 + 0.5 * ring))


@kernel
def draw_hits(rays, near, tall, image):  # type: ignore[no-untyped-def]
    """A bright dot where each beam met an obstacle."""
    pixels = image.shape[0]
    scale, colour = pixels / RANGE, np.empty(3)
    for k in range(BEAMS):
        if near[k] > RANGE:
            continue
        u = pixels / 2 + near[k] * rays[k, 1] * scale - 0.5
        v = (RANGE - BEHIND - near[k] * rays[k, 0]) * scale - 0.5
        height_colour(tall[k], colour)
        j, i = math.floor(u), math.floor(v)
        for a in range(2):
            for b in range(2):
                if 0 <= i + a < pixels and 0 <= j + b < pixels:
                    weight = (1.0 - abs(v - i - a)) * (1.0 - abs(u - j - b))
                    for ch in range(3):
                        lit = np.uint8(colour[ch] * min(1.6 * weight, 1.0) + 0.5)
                        image[i + a, j + b, ch] = max(image[i + a, j + b, ch], lit)


@kernel
def draw_returns(texture, polar, ego, near, shade, image):  # type: ignore[no-untyped-def]
    """Rings on the ground, dark where an obstacle hides it."""
    size = image.shape[0]
    step = RANGE / size
    level, packed = choose_level(texture, step), np.empty(size, np.uint64)
    c, s, aside = math.cos(ego[2]), math.sin(ego[2]), 0.5 * (step - RANGE)
    for i in range(size):
        ahead = RANGE - BEHIND - (i + 0.5) * step
        x, y = ego[0] + ahead * c - aside * s, ego[1] + ahead * s + aside * c
        sample_row(texture, level, x, y, -step * s, step * c, packed)
        for j in range(size):
            beam = polar.beam[i, j]
            hidden = near[beam] < polar.distance[i, j] < shade[beam]
            bright = np.uint64(DARK) if hidden else polar.ring[i, j]
            packed[j] = ((packed[j] * bright + np.uint64(ROUND)) >> np.uint64(8)) & np.uint64(CHANNELS)
        unpack_row(packed, image[i])


@kernel
def draw_lidar(texture, polar, scene, b, image):  # type: ignore[no-untyped-def]
    """The lidar's picture of world b."""
    ego, size = scene.ego[b], image.shape[0]
    near, shade, tall = np.full(BEAMS, np.inf), np.zeros(BEAMS), np.zeros(BEAMS)
    c, s = math.cos(ego[2]), math.sin(ego[2])
    cars = scene.cars.shape[1]
    local = np.full((cars, 3), 1e9)
    for n in range(cars):
        if scene.present[b, n]:
            dx, dy = scene.cars[b, n, 0] - ego[0], scene.cars[b, n, 1] - ego[1]
            local[n, 0], local[n, 1], local[n, 2] = dx * c + dy * s, dy * c - dx * s, scene.cars[b, n, 2] - ego[2]
            length, width, height = scene.size[b, n]
            cast(
                local[n, 0], local[n, 1], local[n, 2], 0.5 * length, 0.5 * width, height, polar.rays, near, shade, tall
            )
    for k in range(scene.signs.shape[0]):
        dx, dy = scene.signs[k, 0] - ego[0], scene.signs[k, 1] - ego[1]
        cast(
            dx * c + dy * s, dy * c - dx * s, 0.0, POLE_RADIUS, POLE_RADIUS, POLE_HEIGHT, polar.rays, near, shade, tall
        )
    draw_returns(texture, polar, ego, near, shade, image)
    for n in range(cars):
        if abs(local[n, 0]) < RANGE and abs(local[n, 1]) < RANGE:
            draw_roof(local[n, 0], local[n, 1], local[n, 2], scene.size[b, n], near, polar, image)
    draw_hits(polar.rays, near, tall, image)
    scale = size / RANGE
    fill_box(image, size / 2.0, (RANGE - BEHIND) * scale, -math.pi / 2, 0.5 * LENGTH * scale, 0.5 * WIDTH * scale, EGO)
