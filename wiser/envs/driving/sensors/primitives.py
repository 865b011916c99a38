"""Pixel helpers shared by the kernels: sampling, blending, and filled shapes with smooth edges.

Images are (H, W, 3) uint8. Pixel (row, column) covers one unit of area round (column + 0.5, row + 0.5). The coverage of
a pixel by a shape is its signed distance to the shape's edge, in pixels, clipped to half a pixel either side.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wiser.envs.driving.sensors.textures import LEVELS, TEXEL


@njit(cache=True, inline="always")
def blend(image, i, j, r, g, b, alpha):  # type: ignore[no-untyped-def]
    """Lay a colour over a pixel."""
    image[i, j, 0] = np.uint8(image[i, j, 0] + (r - image[i, j, 0]) * alpha + 0.5)
    image[i, j, 1] = np.uint8(image[i, j, 1] + (g - image[i, j, 1]) * alpha + 0.5)
    image[i, j, 2] = np.uint8(image[i, j, 2] + (b - image[i, j, 2]) * alpha + 0.5)


@njit(cache=True)
def choose_level(footprint):  # type: ignore[no-untyped-def]
    """The texture level whose texel is half a pixel of this size in metres, or just below."""
    level, texel = 0, TEXEL
    while level < LEVELS - 1 and texel * 4.0 <= footprint * 1.0001:
        level, texel = level + 1, texel * 2.0
    return level


@njit(cache=True, inline="always")
def sample(texture, level, x, y, out):  # type: ignore[no-untyped-def]
    """Bilinear colour of the ground at (x, y): out (3,) float."""
    first, rows, columns = texture.levels[level]
    scale = 1.0 / (TEXEL * (1 << level))
    u = min(max((x - texture.origin[0]) * scale - 0.5, 0.0), columns - 1.001)
    v = min(max((y - texture.origin[1]) * scale - 0.5, 0.0), rows - 1.001)
    j, i = int(u), int(v)
    fu, fv = u - j, v - i
    a = first + i * columns + j
    w00, w01, w10, w11 = (1.0 - fu) * (1.0 - fv), fu * (1.0 - fv), (1.0 - fu) * fv, fu * fv
    t = texture.texels
    for k in range(3):
        out[k] = w00 * t[a, k] + w01 * t[a + 1, k] + w10 * t[a + columns, k] + w11 * t[a + columns + 1, k]


@njit(cache=True)
def fill_box(image, u, v, yaw, half_length, half_width, colour):  # type: ignore[no-untyped-def]
    """A rotated box: centre (u, v) in pixels, yaw clockwise from the u axis, half sizes in pixels."""
    c, s = math.cos(yaw), math.sin(yaw)
    reach_u = abs(half_length * c) + abs(half_width * s) + 1.0
    reach_v = abs(half_length * s) + abs(half_width * c) + 1.0
    for i in range(max(0, int(v - reach_v)), min(image.shape[0], int(v + reach_v) + 1)):
        for j in range(max(0, int(u - reach_u)), min(image.shape[1], int(u + reach_u) + 1)):
            du, dv = j + 0.5 - u, i + 0.5 - v
            inside = min(half_length - abs(du * c + dv * s), half_width - abs(dv * c - du * s)) + 0.5
            if inside > 0.0:
                blend(image, i, j, colour[0], colour[1], colour[2], min(inside, 1.0))


@njit(cache=True)
def fill_disc(image, u, v, radius, colour):  # type: ignore[no-untyped-def]
    """A disc: centre and radius in pixels."""
    for i in range(max(0, int(v - radius - 1)), min(image.shape[0], int(v + radius + 2))):
        for j in range(max(0, int(u - radius - 1)), min(image.shape[1], int(u + radius + 2))):
            inside = radius - math.sqrt((j + 0.5 - u) ** 2 + (i + 0.5 - v) ** 2) + 0.5
            if inside > 0.0:
                blend(image, i, j, colour[0], colour[1], colour[2], min(inside, 1.0))


@njit(cache=True)
def cover_segment(cover, u0, v0, u1, v1, radius):  # type: ignore[no-untyped-def]
    """Raise a coverage image (H, W) to that of a round-ended stroke, so that joints are not painted twice."""
    du, dv = u1 - u0, v1 - v0
    square = du * du + dv * dv
    for i in range(max(0, int(min(v0, v1) - radius - 1)), min(cover.shape[0], int(max(v0, v1) + radius + 2))):
        for j in range(max(0, int(min(u0, u1) - radius - 1)), min(cover.shape[1], int(max(u0, u1) + radius + 2))):
            pu, pv = j + 0.5 - u0, i + 0.5 - v0
            along = min(max((pu * du + pv * dv) / square, 0.0), 1.0) if square > 1e-12 else 0.0
            inside = radius - math.sqrt((pu - along * du) ** 2 + (pv - along * dv) ** 2) + 0.5
            if inside > cover[i, j]:
                cover[i, j] = min(inside, 1.0)


@njit(cache=True)
def paint_cover(image, cover, colour):  # type: ignore[no-untyped-def]
    """Lay a colour over an image where the coverage says so, and clear the coverage."""
    for i in range(cover.shape[0]):
        for j in range(cover.shape[1]):
            if cover[i, j] > 0.0:
                blend(image, i, j, colour[0], colour[1], colour[2], cover[i, j])
                cover[i, j] = 0.0


@njit(cache=True)
def fill_polygon(image, points, count, colour, grow):  # type: ignore[no-untyped-def]
    """A convex polygon: points (V, 2) as (u, v) in pixels, grown by `grow` pixels so that neighbours leave no seam."""
    area, low_u, high_u, low_v, high_v = 0.0, 1e9, -1e9, 1e9, -1e9
    for k in range(count):
        n = (k + 1) % count
        area += points[k, 0] * points[n, 1] - points[n, 0] * points[k, 1]
        low_u, high_u = min(low_u, points[k, 0]), max(high_u, points[k, 0])
        low_v, high_v = min(low_v, points[k, 1]), max(high_v, points[k, 1])
    if abs(area) < 1e-6:
        return
    sign = 1.0 if area > 0.0 else -1.0
    normal = np.empty((count, 3))
    for k in range(count):
        n = (k + 1) % count
        du, dv = points[n, 0] - points[k, 0], points[n, 1] - points[k, 1]
        size = max(math.sqrt(du * du + dv * dv), 1e-9)
        normal[k, 0], normal[k, 1] = -dv / size * sign, du / size * sign
        normal[k, 2] = -(normal[k, 0] * points[k, 0] + normal[k, 1] * points[k, 1]) + grow + 0.5
    first, last = max(0.0, low_v - grow - 1.0), min(float(image.shape[0]), high_v + grow + 1.0)
    left, right = max(0.0, low_u - grow - 1.0), min(float(image.shape[1]), high_u + grow + 1.0)
    for i in range(int(first), int(last)):
        for j in range(int(left), int(right)):
            inside = 1.0
            for k in range(count):
                inside = min(inside, normal[k, 0] * (j + 0.5) + normal[k, 1] * (i + 0.5) + normal[k, 2])
            if inside > 0.0:
                blend(image, i, j, colour[0], colour[1], colour[2], inside)
