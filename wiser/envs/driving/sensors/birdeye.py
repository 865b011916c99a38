"""The four bird's-eye views: the ego heads up, 12 m from the lower edge.

All show the road, the ego's route, the ego and the other cars. `birdeye_raw` shows nothing else,
`birdeye_with_traffic_lights` adds the signs, `birdeye_wpt` where the other cars will drive, `birdeye_gt` all of it
and the field of view: cars outside it turn grey.
"""

from __future__ import annotations

import math

import numpy as np

from wiser.envs.driving.dynamics import LENGTH, WIDTH
from wiser.envs.driving.sensors.primitives import (
    choose_level,
    clear_cover,
    cover_segment,
    fill_box,
    fill_disc,
    paint_cover,
    sample_row,
    unpack_row,
)
from wiser.kernels import kernel

BEHIND = 12.0  # metres shown behind the ego
RANGE = 32.0  # metres from edge to edge
FIELD_OF_VIEW = math.radians(150.0)
ROUTE_WIDTH, PLAN_WIDTH, SIGN_RADIUS = 0.95, 0.7, 1.5

ROUTE = np.array([54.0, 132.0, 255.0])
PLAN = np.array([255.0, 158.0, 44.0])
EGO = np.array([236.0, 54.0, 54.0])
CAR = np.array([62.0, 205.0, 92.0])
UNSEEN = np.array([132.0, 138.0, 136.0])
SIGHT = np.array([250.0, 250.0, 210.0])
RED = np.array([240.0, 40.0, 40.0])
GREEN = np.array([60.0, 220.0, 90.0])
WINDOW = np.array([30.0, 34.0, 40.0])


@kernel
def to_pixel(ego, x, y, scale, size, metres):  # type: ignore[no-untyped-def]
    """Where a point of the world falls in the view: (u, v) in pixels; scale in pixels per metre."""
    c, s = math.cos(ego[2]), math.sin(ego[2])
    dx, dy = x - ego[0], y - ego[1]
    ahead, aside = dx * c + dy * s, dy * c - dx * s
    return size / 2 + aside * scale, (metres - BEHIND - ahead) * scale


@kernel
def draw_ground(texture, ego, metres, image):  # type: ignore[no-untyped-def]
    """Fill the view with the road."""
    size = image.shape[0]
    step = metres / size
    level, packed = choose_level(texture, step), np.empty(size, np.uint64)
    c, s = math.cos(ego[2]), math.sin(ego[2])
    aside = 0.5 * (step - metres)
    for i in range(size):
        ahead = metres - BEHIND - (i + 0.5) * step
        x, y = ego[0] + ahead * c - aside * s, ego[1] + ahead * s + aside * c
        sample_row(texture, level, x, y, -step * s, step * c, packed)
        unpack_row(packed, image[i])


@kernel
def cover_path(ego, points, metres, width, cover):  # type: ignore[no-untyped-def]
    """Cover a polyline through points (P, 2); parts outside the view cost nothing."""
    size = cover.shape[0]
    scale = size / metres
    u0, v0 = to_pixel(ego, points[0, 0], points[0, 1], scale, size, metres)
    for p in range(1, points.shape[0]):
        u1, v1 = to_pixel(ego, points[p, 0], points[p, 1], scale, size, metres)
        if max(u0, u1) > -4.0 and min(u0, u1) < size + 4.0 and max(v0, v1) > -4.0 and min(v0, v1) < size + 4.0:
            cover_segment(cover, u0, v0, u1, v1, 0.5 * width * scale)
        u0, v0 = u1, v1


@kernel
def draw_base(texture, ego, route, metres, cover, image):  # type: ignore[no-untyped-def]
    """What all four views share: road and route."""
    draw_ground(texture, ego, metres, image)
    cover_path(ego, route, metres, ROUTE_WIDTH, cover)
    paint_cover(image, cover, ROUTE)
    clear_cover(cover)


@kernel
def draw_vehicle(ego, car, length, width, metres, colour, image):  # type: ignore[no-untyped-def]
    """A car from above: a box, with a dark windscreen that shows where its front is."""
    size = image.shape[0]
    scale = size / metres
    u, v = to_pixel(ego, car[0], car[1], scale, size, metres)
    reach = 0.6 * length * scale + 2.0
    if u < -reach or u > size + reach or v < -reach or v > size + reach:
        return
    yaw = car[2] - ego[2] - math.pi / 2
    fill_box(image, u, v, yaw, 0.5 * length * scale, 0.5 * width * scale, colour)
    ahead = 0.17 * length * scale
    fill_box(
        image, u + ahead * math.cos(yaw), v + ahead * math.sin(yaw), yaw,
        0.07 * length * scale, 0.38 * width * scale, WINDOW,
    )  # fmt: skip


@kernel
def in_sight(ego, car):  # type: ignore[no-untyped-def]
    """Whether a car's middle lies in the ego's field of view."""
    dx, dy = car[0] - ego[0], car[1] - ego[1]
    bearing = math.atan2(dy, dx) - ego[2]
    bearing = abs(math.atan2(math.sin(bearing), math.cos(bearing)))
    return bearing < 0.5 * FIELD_OF_VIEW and dx * dx + dy * dy < RANGE * RANGE


@kernel
def cover_plans(scene, b, metres, cover):  # type: ignore[no-untyped-def]
    """Where the other cars will drive, as a coverage."""
    for n in range(scene.cars.shape[1]):
        if scene.present[b, n]:
            cover_path(scene.ego[b], scene.plans[b, n], metres, PLAN_WIDTH, cover)


@kernel
def draw_vehicles(scene, b, metres, everything, image):  # type: ignore[no-untyped-def]
    """The ego, then the other cars; with `everything`, those out of sight are grey."""
    ego = scene.ego[b]
    draw_vehicle(ego, ego, LENGTH, WIDTH, metres, EGO, image)
    for n in range(scene.cars.shape[1]):
        if scene.present[b, n]:
            car = scene.cars[b, n]
            colour = UNSEEN if everything and not in_sight(ego, car) else CAR
            draw_vehicle(ego, car, scene.size[b, n, 0], scene.size[b, n, 1], metres, colour, image)


@kernel
def draw_sight(metres, cover, image):  # type: ignore[no-untyped-def]
    """The two edges of the field of view."""
    size, half = image.shape[0], 0.5 * FIELD_OF_VIEW
    scale = size / metres
    u, v, length = size / 2.0, (metres - BEHIND) * scale, RANGE * scale
    for side in (-1.0, 1.0):
        end_u, end_v = u + side * length * math.sin(half), v - length * math.cos(half)
        cover_segment(cover, u, v, end_u, end_v, max(0.08 * scale, 0.3))
    paint_cover(image, cover, SIGHT)
    clear_cover(cover)


@kernel
def draw_signs(scene, b, metres, image):  # type: ignore[no-untyped-def]
    """Stop signs: red while the ego has yet to hold there, then green."""
    size = image.shape[0]
    scale = size / metres
    for k in range(scene.signs.shape[0]):
        u, v = to_pixel(scene.ego[b], scene.signs[k, 0], scene.signs[k, 1], scale, size, metres)
        fill_disc(image, u, v, SIGN_RADIUS * scale, RED if scene.owed[b, k] else GREEN)
