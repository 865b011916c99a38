"""The forward camera: ground by inverse perspective, cars as shaded boxes, sky, hills and haze.

A pinhole of 120 degrees, 1.5 m ahead of the ego's middle, 2 m above the road, looking level: the horizon is the middle
row. The sun stands to the north-west, so a turning ego sees the shading of cars change.
"""

from __future__ import annotations

import math

import numpy as np

from wiser.envs.driving.sensors.primitives import choose_level, fill_polygon, mix_row, sample_row, unpack_row
from wiser.kernels import kernel

FORWARD, UP = 1.5, 2.0  # where the camera sits
FIELD_OF_VIEW = math.radians(120.0)
NEAR = 0.3  # metres: nothing closer is drawn
FOG = 95.0  # metres until two thirds of a colour are haze
DETAIL, SILHOUETTE = 22.0, 45.0  # metres up to which wheels and lamps, and cabins, are drawn
FAR = 120.0

HAZE = np.array([196.0, 208.0, 220.0])
PACKED_HAZE = 196 | 208 << 16 | 220 << 32
ZENITH = np.array([92.0, 148.0, 214.0])
HILL = np.array([104.0, 132.0, 116.0])
GLASS = np.array([44.0, 54.0, 66.0])
SHADOW = np.array([52.0, 54.0, 58.0])
TYRE = np.array([30.0, 31.0, 34.0])
TAIL = np.array([214.0, 34.0, 30.0])
LAMP = np.array([250.0, 244.0, 214.0])
POLE = np.array([120.0, 122.0, 124.0])
SIGN = np.array([206.0, 32.0, 38.0])
BACK = np.array([150.0, 152.0, 154.0])
RIM = np.array([244.0, 240.0, 236.0])
SUN = np.array([-0.45, -0.35, 0.82])  # towards the sun, world axes

# A car in its own axes, in halves of its length and width and in parts of its height:
# x0, x1, y0, y1, z0, z1 of the body and of the cabin, and how much narrower they are at the top.
BODY = np.array([-1.0, 1.0, -1.0, 1.0, 0.16, 0.62, 0.97])
CABIN = np.array([-0.78, 0.52, -0.9, 0.9, 0.62, 1.0, 0.74])
WHEELS = np.array([-0.62, 0.62])  # where the axles are


@kernel
def hill_height(bearing):  # type: ignore[no-untyped-def]
    """Height of the skyline in a direction of the world, as a slope."""
    return (
        0.055
        + 0.022 * math.sin(3.0 * bearing + 1.0)
        + 0.014 * math.sin(7.0 * bearing)
        + 0.006 * math.sin(19.0 * bearing)
    )


@kernel
def draw_sky_row(drop, focal, skyline, highest, row):  # type: ignore[no-untyped-def]
    """One row above the horizon: the sky's gradient, and hills where they reach up to it."""
    fade = min(-drop / 0.9, 1.0) ** 0.7
    r, g, b = HAZE + (ZENITH - HAZE) * fade
    for j in range(row.shape[0]):
        row[j, 0], row[j, 1], row[j, 2] = np.uint8(r + 0.5), np.uint8(g + 0.5), np.uint8(b + 0.5)
    if highest + drop * focal + 0.5 <= 0.0:
        return
    for j in range(row.shape[0]):
        hill = min(max(skyline[j] + drop * focal + 0.5, 0.0), 1.0)
        for k in range(3):
            row[j, k] = np.uint8(row[j, k] + (0.45 * HILL[k] + 0.55 * HAZE[k] - row[j, k]) * hill + 0.5)


@kernel
def draw_background(texture, ego, image):  # type: ignore[no-untyped-def]
    """Sky, hills and ground."""
    size = image.shape[0]
    focal = 0.5 * size / math.tan(0.5 * FIELD_OF_VIEW)
    c, s = math.cos(ego[2]), math.sin(ego[2])
    x, y = ego[0] + FORWARD * c, ego[1] + FORWARD * s
    skyline, packed = np.empty(size), np.empty(size, np.uint64)
    for j in range(size):
        aside = (j + 0.5 - size / 2) / focal
        skyline[j] = hill_height(ego[2] + math.atan(aside)) * math.sqrt(1.0 + aside * aside) * focal
    highest = skyline.max()
    for i in range(size):
        drop = (i + 0.5 - size / 2) / focal
        if drop <= 0.0:
            draw_sky_row(drop, focal, skyline, highest, image[i])
            continue
        ahead = UP / drop
        level = choose_level(texture, math.sqrt(ahead / focal * ahead * ahead / (UP * focal)))
        haze, aside, step = (
            int(256.0 * (1.0 - math.exp(-ahead / FOG)) + 0.5),
            ahead * (0.5 - size / 2) / focal,
            ahead / focal,
        )
        sample_row(texture, level, x + ahead * c - aside * s, y + ahead * s + aside * c, -step * s, step * c, packed)
        mix_row(packed, np.uint64(256 - haze), np.uint64(haze) * np.uint64(PACKED_HAZE))
        unpack_row(packed, image[i])


@kernel
def draw_face(view, corners, count, colour, light, grow, image):  # type: ignore[no-untyped-def]
    """A convex polygon in space: corners (V, 3) in world axes; clipped, projected, hazed by its distance.

    view (8,) holds the camera: x, y, cos and sin of its yaw, focal length, image size.
    """
    flat, kept, nearest = np.empty((count + 2, 2)), 0, 1e9
    local = np.empty((count, 3))
    for k in range(count):
        dx, dy = corners[k, 0] - view[0], corners[k, 1] - view[1]
        local[k, 0] = dx * view[2] + dy * view[3]
        local[k, 1] = dy * view[2] - dx * view[3]
        local[k, 2] = UP - corners[k, 2]
        nearest = min(nearest, local[k, 0])
    for k in range(count):
        n = (k + 1) % count
        here, there = local[k], local[n]
        if here[0] >= NEAR:
            flat[kept, 0] = view[5] / 2 + view[4] * here[1] / here[0]
            flat[kept, 1] = view[5] / 2 + view[4] * here[2] / here[0]
            kept += 1
        if (here[0] >= NEAR) != (there[0] >= NEAR):
            f = (NEAR - here[0]) / (there[0] - here[0])
            flat[kept, 0] = view[5] / 2 + view[4] * (here[1] + (there[1] - here[1]) * f) / NEAR
            flat[kept, 1] = view[5] / 2 + view[4] * (here[2] + (there[2] - here[2]) * f) / NEAR
            kept += 1
    if kept < 3:
        return
    haze = 1.0 - math.exp(-max(nearest, 0.0) / FOG)
    shown = np.empty(3)
    for k in range(3):
        shown[k] = min(colour[k] * light, 255.0)
        shown[k] += (HAZE[k] - shown[k]) * haze
    fill_polygon(image, flat, kept, shown, grow)


@kernel
def put_corner(corners, k, car, c, s, x, y, z):  # type: ignore[no-untyped-def]
    """Write a point of the car's axes as corner k in world axes."""
    corners[k, 0], corners[k, 1], corners[k, 2] = car[0] + x * c - y * s, car[1] + x * s + y * c, z


@kernel
def draw_box(view, car, size, part, side_colour, top_colour, image):  # type: ignore[no-untyped-def]
    """One box of a car, narrower at the top: the sides that face the camera, then the top."""
    c, s = math.cos(car[2]), math.sin(car[2])
    corners = np.empty((4, 3))
    low, high, top = part[4] * size[2], part[5] * size[2], part[6]
    middle, length, width = (
        0.25 * (part[0] + part[1]) * size[0],
        0.25 * (part[1] - part[0]) * size[0],
        0.5 * part[3] * size[1],
    )
    for side in range(4):  # rear, right, front, left: each a quarter turn on
        along, across = (-1.0, 0.0, 1.0, 0.0)[side], (0.0, 1.0, 0.0, -1.0)[side]
        for k in range(4):
            end = -1.0 if k in (0, 3) else 1.0
            shrink = 1.0 if k < 2 else top
            x = middle + (along + across * end) * length * shrink
            y = (across - along * end) * width * shrink
            put_corner(corners, k, car, c, s, x, y, low if k < 2 else high)
        nx, ny = along * c - across * s, along * s + across * c
        if (view[0] - corners[0, 0]) * nx + (view[1] - corners[0, 1]) * ny > 0.0:
            draw_face(view, corners, 4, side_colour, 0.72 + 0.3 * (nx * SUN[0] + ny * SUN[1]), 0.15, image)
    if high < UP:
        for k in range(4):
            x, y = (-1.0 if k in (0, 3) else 1.0) * length * top, (-1.0 if k < 2 else 1.0) * width * top
            put_corner(corners, k, car, c, s, middle + x, y, high)
        draw_face(view, corners, 4, top_colour, 1.08, 0.15, image)


@kernel
def draw_lamps(view, car, size, image):  # type: ignore[no-untyped-def]
    """Red lamps if the camera looks at the car's rear, white ones at its front."""
    c, s = math.cos(car[2]), math.sin(car[2])
    rear = (view[0] - car[0]) * c + (view[1] - car[1]) * s < 0.0
    corners = np.empty((4, 3))
    for side in (-1.0, 1.0):
        for k in range(4):
            x, y = (-0.5 if rear else 0.5) * 1.01 * size[0], side * (0.95 if k in (0, 3) else 0.6) * 0.5 * size[1]
            put_corner(corners, k, car, c, s, x, y, (0.42 if k < 2 else 0.55) * size[2])
        draw_face(view, corners, 4, TAIL if rear else LAMP, 1.0, 0.0, image)


@kernel
def draw_wheels(view, car, size, image):  # type: ignore[no-untyped-def]
    """Two dark octagons on the side that faces the camera."""
    c, s = math.cos(car[2]), math.sin(car[2])
    side = 1.0 if (view[1] - car[1]) * c - (view[0] - car[0]) * s > 0.0 else -1.0
    corners = np.empty((8, 3))
    for axle in WHEELS:
        for k in range(8):
            angle = (k + 0.5) * math.pi / 4
            x, z = axle * 0.5 * size[0] + 0.34 * math.cos(angle), 0.33 + 0.34 * math.sin(angle)
            put_corner(corners, k, car, c, s, x, side * 0.505 * size[1], z)
        draw_face(view, corners, 8, TYRE, 1.0, 0.0, image)


@kernel
def draw_shadow(view, car, size, image):  # type: ignore[no-untyped-def]
    """The dark patch under a car."""
    c, s = math.cos(car[2]), math.sin(car[2])
    corners = np.zeros((4, 3))
    for k in range(4):
        px = (1.03 if k in (1, 2) else -1.03) * size[0] / 2
        py = (1.08 if k > 1 else -1.08) * size[1] / 2
        corners[k, 0], corners[k, 1] = car[0] + px * c - py * s, car[1] + px * s + py * c
    draw_face(view, corners, 4, SHADOW, 1.0, 0.0, image)


@kernel
def draw_car(view, car, size, paint, distance, image):  # type: ignore[no-untyped-def]
    """Shadow, body, wheels, lamps, cabin."""
    draw_shadow(view, car, size, image)
    draw_box(view, car, size, BODY, paint, paint, image)
    if distance < DETAIL:
        aside = abs((view[1] - car[1]) * math.cos(car[2]) - (view[0] - car[0]) * math.sin(car[2]))
        if aside > 0.5 * size[1]:
            draw_wheels(view, car, size, image)
        draw_lamps(view, car, size, image)
    if distance < SILHOUETTE:
        draw_box(view, car, size, CABIN, GLASS, paint, image)


@kernel
def draw_sign(view, sign, image):  # type: ignore[no-untyped-def]
    """A stop sign: pole, white rim, red octagon; grey from behind."""
    c, s = math.cos(sign[2]), math.sin(sign[2])
    corners = np.empty((8, 3))
    for k in range(4):
        px = 0.05 if k in (1, 2) else -0.05
        corners[k, 0], corners[k, 1] = sign[0] - px * s, sign[1] + px * c
        corners[k, 2] = 0.0 if k < 2 else 1.9
    draw_face(view, corners, 4, POLE, 1.0, 0.15, image)
    front = (view[0] - sign[0]) * c + (view[1] - sign[1]) * s < 0.0
    for ring in range(2):
        radius = 0.46 if ring == 0 else 0.39
        for k in range(8):
            angle = (k + 0.5) * math.pi / 4
            aside = radius * math.cos(angle)
            corners[k, 0], corners[k, 1] = sign[0] - aside * s, sign[1] + aside * c
            corners[k, 2] = 2.25 + radius * math.sin(angle)
        draw_face(view, corners, 8, (RIM if ring == 0 else SIGN) if front else BACK, 1.0, 0.0, image)


@kernel
def draw_camera(texture, scene, b, image):  # type: ignore[no-untyped-def]
    """The camera's picture of world b."""
    ego = scene.ego[b]
    draw_background(texture, ego, image)
    c, s = math.cos(ego[2]), math.sin(ego[2])
    focal = 0.5 * image.shape[0] / math.tan(0.5 * FIELD_OF_VIEW)
    view = np.array([ego[0] + FORWARD * c, ego[1] + FORWARD * s, c, s, focal, float(image.shape[0])])
    cars, signs = scene.cars.shape[1], scene.signs.shape[0]
    depth = np.empty(cars + signs)
    for n in range(cars + signs):
        x, y = (
            (scene.cars[b, n, 0], scene.cars[b, n, 1])
            if n < cars
            else (scene.signs[n - cars, 0], scene.signs[n - cars, 1])
        )
        dx, dy = x - view[0], y - view[1]
        ahead, aside = dx * c + dy * s, dy * c - dx * s
        shown = ahead > -3.0 and abs(aside) < 1.8 * ahead + 6.0 and ahead < FAR
        if n < cars:
            shown = shown and scene.present[b, n]
        depth[n] = dx * dx + dy * dy if shown else -1.0
    for n in np.argsort(-depth):
        if depth[n] < 0.0:
            break
        if n < cars:
            draw_car(view, scene.cars[b, n], scene.size[b, n], scene.paint[b, n], math.sqrt(depth[n]), image)
        else:
            draw_sign(view, scene.signs[n - cars], image)
