"""The sensors once more, slowly and clearly: plain numpy, whole images at a time. The kernels are tested against it.

It shares constants, textures and tables with the kernels, but none of their code: shapes are signed distances over
the whole image, faces are clipped and projected with matrices, beams meet boxes as arrays.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.dynamics import LENGTH, WIDTH
from wiser.envs.driving.roads import Floats
from wiser.envs.driving.sensors import birdeye, camera, lidar
from wiser.envs.driving.sensors.scene import Scene
from wiser.envs.driving.sensors.suite import LAYERS
from wiser.envs.driving.sensors.textures import LEVELS, Texture


def level_of(texture: Texture, footprint: float) -> int:
    """The texture level for pixels of this size in metres."""
    return int(np.clip(np.floor(np.log2(footprint * 1.0001 / texture.texel)) - 1, 0, LEVELS - 1))


def look_up(texture: Texture, level: int, xy: Floats) -> Floats:
    """Bilinear ground colours at points (..., 2): (..., 3)."""
    first, rows, columns = texture.levels[level]
    packed = texture.texels[first : first + rows * columns].reshape(rows, columns)
    where = (xy - texture.origin) / (texture.texel * 2**level) - 0.5
    u, v = np.clip(where[..., 0], 0, columns - 2), np.clip(where[..., 1], 0, rows - 2)
    j, i = u.astype(int), v.astype(int)
    fu, fv = (u - j)[..., None], (v - i)[..., None]
    corners = [packed[i + di, j + dj] for di in (0, 1) for dj in (0, 1)]
    a, b, c, d = (
        np.stack([(corner >> np.uint64(shift) & np.uint64(255)).astype(float) for shift in (0, 16, 32)], axis=-1)
        for corner in corners
    )
    return np.asarray((a * (1 - fu) + b * fu) * (1 - fv) + (c * (1 - fu) + d * fu) * fv)


def lay(image: Floats, colour: Floats, inside: Floats) -> None:
    """Lay a colour over an image (S, S, 3) where a signed distance in pixels (S, S), positive inside, says so."""
    image += (colour - image) * np.clip(inside + 0.5, 0.0, 1.0)[..., None]


def centres(size: int) -> tuple[Floats, Floats]:
    """Pixel centres as (u, v), each (S, S)."""
    middle = np.arange(size) + 0.5
    return np.broadcast_to(middle[None, :], (size, size)), np.broadcast_to(middle[:, None], (size, size))


def box_distance(size: int, at: Floats, yaw: float, half_length: float, half_width: float) -> Floats:
    """Signed distance to a rotated box, positive inside."""
    u, v = centres(size)
    du, dv = u - at[0], v - at[1]
    along, across = du * np.cos(yaw) + dv * np.sin(yaw), dv * np.cos(yaw) - du * np.sin(yaw)
    return np.asarray(np.minimum(half_length - np.abs(along), half_width - np.abs(across)))


def stroke_distance(size: int, points: Floats, radius: float) -> Floats:
    """Signed distance to a polyline of some width, positive inside."""
    u, v = centres(size)
    best = np.full((size, size), -1e9)
    for begin, end in itertools.pairwise(points):
        d = end - begin
        length = float(d @ d)
        along = np.clip(((u - begin[0]) * d[0] + (v - begin[1]) * d[1]) / length, 0, 1) if length > 1e-12 else 0.0
        best = np.maximum(best, radius - np.hypot(u - begin[0] - along * d[0], v - begin[1] - along * d[1]))
    return best


def ego_axes(ego: Floats, xy: Floats) -> Floats:
    """Points (..., 2) of the world as metres ahead and to the right of the ego."""
    d = xy - ego[:2]
    c, s = np.cos(ego[2]), np.sin(ego[2])
    return np.stack([d[..., 0] * c + d[..., 1] * s, d[..., 1] * c - d[..., 0] * s], axis=-1)


def world_axes(ego: Floats, ahead: Floats, aside: Floats) -> Floats:
    """The other way round."""
    c, s = np.cos(ego[2]), np.sin(ego[2])
    return np.stack([ego[0] + ahead * c - aside * s, ego[1] + ahead * s + aside * c], axis=-1)


def draw_birdeye(texture: Texture, scene: Scene, b: int, name: str, metres: float, size: int) -> NDArray[np.uint8]:
    """One of the four bird's-eye views: (S, S, 3)."""
    signals, plans, everything = LAYERS[name]
    ego, scale = scene.ego[b], size / metres
    u, v = centres(size)
    image = look_up(
        texture,
        level_of(texture, 1 / scale),
        world_axes(ego, metres - birdeye.BEHIND - v / scale, u / scale - metres / 2),
    )

    def pixels(xy: Floats) -> Floats:
        here = ego_axes(ego, xy)
        return np.stack([size / 2 + here[..., 1] * scale, (metres - birdeye.BEHIND - here[..., 0]) * scale], axis=-1)

    lay(image, birdeye.ROUTE, stroke_distance(size, pixels(scene.route[b]), birdeye.ROUTE_WIDTH * scale / 2))
    present = np.flatnonzero(scene.present[b])
    if plans and len(present):
        strokes = [stroke_distance(size, pixels(scene.plans[b, n]), birdeye.PLAN_WIDTH * scale / 2) for n in present]
        lay(image, birdeye.PLAN, np.max(strokes, axis=0))
    for n in (-1, *present):
        pose, (length, width) = (ego, (LENGTH, WIDTH)) if n < 0 else (scene.cars[b, n], scene.size[b, n, :2])
        hidden = everything and n >= 0 and not birdeye.in_sight.py_func(ego, pose)
        colour = birdeye.EGO if n < 0 else birdeye.UNSEEN if hidden else birdeye.CAR
        at, yaw = pixels(pose[:2]), pose[2] - ego[2] - np.pi / 2
        lay(image, colour, box_distance(size, at, yaw, length * scale / 2, width * scale / 2))
        screen = at + 0.17 * length * scale * np.array([np.cos(yaw), np.sin(yaw)])
        window = box_distance(size, screen, yaw, 0.07 * length * scale, 0.38 * width * scale)
        lay(image, birdeye.WINDOW, window)
    if everything:
        half, here = birdeye.FIELD_OF_VIEW / 2, np.array([size / 2, (metres - birdeye.BEHIND) * scale])
        ends = [here + birdeye.RANGE * scale * np.array([side * np.sin(half), -np.cos(half)]) for side in (-1, 1)]
        lay(image, birdeye.SIGHT, stroke_distance(size, np.array([ends[0], here, ends[1]]), max(0.08 * scale, 0.3)))
    if signals:
        for k, sign in enumerate(scene.signs):
            at = pixels(sign[:2])
            colour = birdeye.RED if scene.owed[b, k] else birdeye.GREEN
            lay(image, colour, birdeye.SIGN_RADIUS * scale - np.hypot(u - at[0], v - at[1]))
    return np.asarray(image + 0.5, np.uint8)


def draw_lidar(texture: Texture, scene: Scene, b: int, size: int) -> NDArray[np.uint8]:
    """The lidar's picture: (S, S, 3)."""
    ego, scale, polar = scene.ego[b], size / birdeye.RANGE, lidar.polar_table(size)
    u, v = centres(size)
    ground = world_axes(ego, birdeye.RANGE - birdeye.BEHIND - v / scale, u / scale - birdeye.RANGE / 2)
    image = look_up(texture, level_of(texture, 1 / scale), ground)
    boxes = [(*ego_axes(ego, scene.cars[b, n, :2]), scene.cars[b, n, 2] - ego[2], *scene.size[b, n])
             for n in np.flatnonzero(scene.present[b])]  # fmt: skip
    poles = [(*ego_axes(ego, sign[:2]), 0.0, 2 * lidar.POLE_RADIUS, 2 * lidar.POLE_RADIUS, lidar.POLE_HEIGHT)
             for sign in scene.signs]  # fmt: skip
    near, shade, tall = np.full(lidar.BEAMS, np.inf), np.zeros(lidar.BEAMS), np.zeros(lidar.BEAMS)
    for x, y, yaw, length, width, height in (*boxes, *poles):
        if np.hypot(x, y) - np.hypot(length, width) / 2 > birdeye.RANGE:
            continue
        turn = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
        origin, rays = turn @ np.array([-x, -y]), polar.rays @ turn.T  # (2,), (BEAMS, 2)
        with np.errstate(divide="ignore"):
            walls = (np.array([-0.5, 0.5])[:, None, None] * np.array([length, width]) - origin) / rays
        enter, leave = np.maximum(walls.min(axis=0).max(axis=1), 0.0), walls.max(axis=0).min(axis=1)
        hit = enter <= leave
        clear = (
            leave * lidar.MOUNT / (lidar.MOUNT - height) if height < lidar.MOUNT - 0.05 else np.full_like(leave, 1e9)
        )
        shade = np.where(hit, np.maximum(shade, clear), shade)
        first = hit & (enter < near)
        near, tall = np.where(first, enter, near), np.where(first, height, tall)
    dark = (near[polar.beam] < polar.distance) & (polar.distance < shade[polar.beam])
    image *= np.where(dark, lidar.DARK, polar.ring)[..., None] / 256
    for x, y, yaw, length, width, height in boxes:
        at = np.array([size / 2 + y * scale, (birdeye.RANGE - birdeye.BEHIND - x) * scale])
        inside = box_distance(size, at, yaw - np.pi / 2, length * scale / 2, width * scale / 2)
        reach = np.hypot(length, width) / 2 + 1 / scale
        seen = near[polar.beam] >= polar.distance - reach
        ring = (polar.distance * lidar.MOUNT / max(lidar.MOUNT - height, 0.3) / 0.05).astype(int)
        glow = 0.25 + 0.5 * polar.profile[np.minimum(ring, len(polar.profile) - 1)]
        image += (height_colour(height) - image) * (np.clip(inside + 0.5, 0, 1) * glow * seen)[..., None]
    for k in np.flatnonzero(near <= birdeye.RANGE):
        hit_at = near[k] * polar.rays[k] * scale
        dot = np.array([size / 2 + hit_at[1], (birdeye.RANGE - birdeye.BEHIND) * scale - hit_at[0]])
        weight = np.clip(1 - np.abs(u - dot[0]), 0, 1) * np.clip(1 - np.abs(v - dot[1]), 0, 1)
        np.maximum(image, height_colour(tall[k]) * np.minimum(1.6 * weight, 1.0)[..., None], out=image)
    here = np.array([size / 2, (birdeye.RANGE - birdeye.BEHIND) * scale])
    lay(image, lidar.EGO, box_distance(size, here, -np.pi / 2, LENGTH * scale / 2, WIDTH * scale / 2))
    return np.asarray(image + 0.5, np.uint8)


def height_colour(height: float) -> Floats:
    """Colour of a lidar return at some height."""
    return np.array([np.interp(height, lidar.HEIGHTS, lidar.COLOURS[:, k]) for k in range(3)])


class Faces:
    """Paints convex faces in space, given in world axes, onto a camera image."""

    def __init__(self, ego: Floats, image: Floats) -> None:
        self.image, self.size = image, image.shape[0]
        self.eye = world_axes(ego, np.array(camera.FORWARD), np.array(0.0))
        self.yaw, self.focal = ego[2], self.size / 2 / np.tan(camera.FIELD_OF_VIEW / 2)

    def paint(self, corners: Floats, colour: Floats, light: float = 1.0, grow: float = 0.0) -> None:
        """One face: corners (V, 3)."""
        flat = ego_axes(np.array([*self.eye, self.yaw]), corners[:, :2])
        local = np.column_stack([flat, camera.UP - corners[:, 2]])  # ahead, right, down
        kept: list[Floats] = []
        for here, there in zip(local, np.roll(local, -1, axis=0), strict=True):
            if here[0] >= camera.NEAR:
                kept.append(here)
            if (here[0] >= camera.NEAR) != (there[0] >= camera.NEAR):
                kept.append(here + (there - here) * (camera.NEAR - here[0]) / (there[0] - here[0]))
        if len(kept) < 3:
            return
        points = np.array(
            [[self.size / 2 + self.focal * p[1] / p[0], self.size / 2 + self.focal * p[2] / p[0]] for p in kept]
        )
        after = np.roll(points, -1, axis=0)
        area = (points[:, 0] * after[:, 1] - after[:, 0] * points[:, 1]).sum()
        if abs(area) < 1e-6:
            return
        edge = (after - points) / np.maximum(np.hypot(*(after - points).T), 1e-9)[:, None]
        u, v = centres(self.size)
        inside = [np.sign(area) * ((v - p[1]) * e[0] - (u - p[0]) * e[1]) for p, e in zip(points, edge, strict=True)]
        (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
        inside += [u - left, right - u, v - top, bottom - v]
        haze = 1 - np.exp(-max(local[:, 0].min(), 0.0) / camera.FOG)
        shown = np.minimum(colour * light, 255)
        lay(self.image, shown + (camera.HAZE - shown) * haze, np.min(inside, axis=0) + grow)
