"""Pixel helpers shared by the kernels: sampling, blending, and filled shapes with smooth edges.

Images are (H, W, 3) uint8. Pixel (row, column) covers one unit of area round (column + 0.5, row + 0.5). The coverage of
a pixel by a shape is its signed distance to the shape's edge, in pixels, clipped to half a pixel either side.
"""

from __future__ import annotations

import math

import numpy as np

from wiser.envs.driving.sensors.textures import LEVELS
from wiser.kernels import kernel

CHANNELS, ROUND = 0x00FF00FF00FF, 0x008000800080  # the three channels of a packed colour, and a half of each


@kernel
def blend(image, i, j, r, g, b, alpha):  # type: ignore[no-untyped-def]
    """Lay a colour over a pixel."""
    image[i, j, 0] = np.uint8(image[i, j, 0] + (r - image[i, j, 0]) * alpha + 0.5)
    image[i, j, 1] = np.uint8(image[i, j, 1] + (g - image[i, j, 1]) * alpha + 0.5)
    image[i, j, 2] = np.uint8(image[i, j, 2] + (b - image[i, j, 2]) * alpha + 0.5)


@kernel
def choose_level(texture, footprint):  # type: ignore[no-untyped-def]
    """The texture level whose texel is half a pixel of this size in metres, or just below."""
    level, texel = 0, texture.texel
    while level < LEVELS - 1 and texel * 4.0 <= footprint * 1.0001:
        level, texel = level + 1, texel * 2.0
    return level


@kernel
def sample_row(texture, level, x, y, step_x, step_y, out):  # type: ignore[no-untyped-def]
    """Bilinear colours of the ground from (x, y) on, a step apart: out (P,) packed colours.

    Places are fixed-point numbers with 24 bits after the point. Weights have 8 bits and sum to 256, so that the three
    channels of a packed colour, 16 bits apart, go through one multiplication without touching each other.
    """
    texels, scale = texture.texels, 16777216.0 / (texture.texel * (1 << level))
    first, rows, columns = texture.levels[level]
    u = int((x - texture.origin[0]) * scale) - 8388608
    v = int((y - texture.origin[1]) * scale) - 8388608
    du, dv, last_u, last_v = int(step_x * scale), int(step_y * scale), (columns - 2) << 24, (rows - 2) << 24
    below, right = np.uint64(columns), np.uint64(1)
    for p in range(out.shape[0]):
        pu, pv = min(max(u + du * p, 0), last_u), min(max(v + dv * p, 0), last_v)
        fu, fv = np.uint64((pu >> 16) & 255), np.uint64((pv >> 16) & 255)
        a = np.uint64(first + (pv >> 24) * columns + (pu >> 24))
        w11 = (fu * fv + np.uint64(128)) >> np.uint64(8)
        w10, w01 = fv - w11, fu - w11
        w00 = np.uint64(256) - fu - w10
        c = a + below
        mixed = texels[a] * w00 + texels[a + right] * w01 + texels[c] * w10 + texels[c + right] * w11
        out[p] = ((mixed + np.uint64(ROUND)) >> np.uint64(8)) & np.uint64(CHANNELS)


@kernel
def mix_row(packed, weight, added):  # type: ignore[no-untyped-def]
    """Scale packed colours (P,) by weight / 256 and add a packed colour that was scaled by the rest."""
    for p in range(packed.shape[0]):
        packed[p] = ((packed[p] * weight + added + np.uint64(ROUND)) >> np.uint64(8)) & np.uint64(CHANNELS)


@kernel
def unpack_row(packed, row):  # type: ignore[no-untyped-def]
    """Write packed colours (P,) as pixels (P, 3)."""
    for p in range(packed.shape[0]):
        row[p, 0] = np.uint8(packed[p])
        row[p, 1] = np.uint8(packed[p] >> np.uint64(16))
        row[p, 2] = np.uint8(packed[p] >> np.uint64(32))


@kernel
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


@kernel
def fill_disc(image, u, v, radius, colour):  # type: ignore[no-untyped-def]
    """A disc: centre and radius in pixels."""
    for i in range(max(0, int(v - radius - 1)), min(image.shape[0], int(v + radius + 2))):
        for j in range(max(0, int(u - radius - 1)), min(image.shape[1], int(u + radius + 2))):
            inside = radius - math.sqrt((j + 0.5 - u) ** 2 + (i + 0.5 - v) ** 2) + 0.5
            if inside > 0.0:
                blend(image, i, j, colour[0], colour[1], colour[2], min(inside, 1.0))


@kernel
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


@kernel
def paint_cover(image, cover, colour):  # type: ignore[no-untyped-def]
    """Lay a colour over an image where the coverage says so."""
    for i in range(cover.shape[0]):
        for j in range(cover.shape[1]):
            if cover[i, j] > 0.0:
                blend(image, i, j, colour[0], colour[1], colour[2], cover[i, j])


@kernel
def clear_cover(cover):  # type: ignore[no-untyped-def]
    """Make a coverage ready for the next shape."""
    cover[:] = 0.0


@kernel
def fill_polygon(image, points, count, colour, grow):  # type: ignore[no-untyped-def]
    """A convex polygon: points (V, 2) as (u, v) in pixels, grown by `grow` pixels so that neighbours leave no seam.

    Its bounding box counts as four more edges, which cuts the spikes that thin slivers would have.
    """
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
        above = min(i + 0.5 - low_v, high_v - i - 0.5) + grow + 0.5
        for j in range(int(left), int(right)):
            inside = min(1.0, above, min(j + 0.5 - low_u, high_u - j - 0.5) + grow + 0.5)
            for k in range(count):
                inside = min(inside, normal[k, 0] * (j + 0.5) + normal[k, 1] * (i + 0.5) + normal[k, 2])
            if inside > 0.0:
                blend(image, i, j, colour[0], colour[1], colour[2], inside)
