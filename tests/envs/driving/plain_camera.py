"""The forward camera once more, in plain numpy; see `plain_sensors`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.envs.driving.plain_sensors import Faces, centres, ego_axes, level_of, look_up, world_axes
from wiser.envs.driving.roads import Floats
from wiser.envs.driving.sensors import camera
from wiser.envs.driving.sensors.scene import Scene
from wiser.envs.driving.sensors.textures import Texture

OCTAGON = (np.arange(8) + 0.5) * np.pi / 4


def draw_camera(texture: Texture, scene: Scene, b: int, size: int) -> NDArray[np.uint8]:
    """The camera's picture: (S, S, 3)."""
    image = background(texture, scene.ego[b], size)
    faces = Faces(scene.ego[b], image)
    things = [(scene.cars[b, n], n) for n in np.flatnonzero(scene.present[b])] + [(sign, -1) for sign in scene.signs]
    for thing, n in sorted(things, key=lambda entry: -float(np.hypot(*(entry[0][:2] - faces.eye)))):
        ahead, aside = ego_axes(np.array([*faces.eye, faces.yaw]), thing[:2])
        if not (-3.0 < ahead < camera.FAR and abs(aside) < 1.8 * ahead + 6.0):
            continue
        if n < 0:
            paint_sign(faces, thing)
        else:
            paint_car(faces, thing, scene.size[b, n], scene.paint[b, n])
    return np.asarray(image + 0.5, np.uint8)


def background(texture: Texture, ego: Floats, size: int) -> Floats:
    """Sky, hills and ground."""
    focal = size / 2 / np.tan(camera.FIELD_OF_VIEW / 2)
    u, v = centres(size)
    right, down = (u - size / 2) / focal, (v - size / 2) / focal
    fade = (np.clip(-down / 0.9, 0, 1) ** 0.7)[..., None]
    sky = camera.HAZE + (camera.ZENITH - camera.HAZE) * fade
    bearing = ego[2] + np.arctan(right)
    height = 0.055 + 0.022 * np.sin(3 * bearing + 1) + 0.014 * np.sin(7 * bearing) + 0.006 * np.sin(19 * bearing)
    hill = np.clip((height * np.sqrt(1 + right**2) + down) * focal + 0.5, 0, 1)[..., None]
    sky += (0.45 * camera.HILL + 0.55 * camera.HAZE - sky) * hill
    image = sky
    eye = np.array([*world_axes(ego, np.array(camera.FORWARD), np.array(0.0)), ego[2]])
    for i in np.flatnonzero(down[:, 0] > 0):
        ahead = camera.UP / down[i]  # (S,) all equal
        level = level_of(texture, float(np.sqrt(ahead[0] ** 3 / (focal * focal * camera.UP))))
        ground = look_up(texture, level, world_axes(eye, ahead, ahead * right[i]))
        image[i] = ground + (camera.HAZE - ground) * (1 - np.exp(-ahead / camera.FOG))[:, None]
    return image


def place(pose: Floats, local: Floats) -> Floats:
    """Points (V, 3) of a thing's own axes in world axes."""
    return np.column_stack([world_axes(pose, local[:, 0], local[:, 1]), local[:, 2]])


def paint_box(faces: Faces, car: Floats, size: Floats, part: Floats, side: Floats, roof: Floats) -> None:
    """One box of a car, narrower at the top."""
    middle, half = (
        (part[0] + part[1]) / 4 * size[0],
        np.array([(part[1] - part[0]) / 4 * size[0], part[3] / 2 * size[1]]),
    )
    ring = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half  # left rear, left front, right front, right rear
    low = place(car, np.column_stack([ring + np.array([middle, 0]), np.full(4, part[4] * size[2])]))
    high = place(car, np.column_stack([ring * part[6] + np.array([middle, 0]), np.full(4, part[5] * size[2])]))
    for a, turn in ((3, np.pi), (2, np.pi / 2), (1, 0.0), (0, -np.pi / 2)):  # rear, right, front, left
        normal = np.array([np.cos(car[2] + turn), np.sin(car[2] + turn)])
        corners = np.array([low[a], low[(a + 1) % 4], high[(a + 1) % 4], high[a]])
        if (faces.eye - corners[0, :2]) @ normal > 0:
            faces.paint(corners, side, 0.72 + 0.3 * float(normal @ camera.SUN[:2]), 0.15)
    if part[5] * size[2] < camera.UP:
        faces.paint(high, roof, 1.08, 0.15)


def paint_car(faces: Faces, car: Floats, size: Floats, paint: Floats) -> None:
    """Shadow, body, wheels, lamps, cabin."""
    corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    faces.paint(place(car, np.column_stack([corner * size[:2] / 2 * [1.03, 1.08], np.zeros(4)])), camera.SHADOW)
    paint_box(faces, car, size, camera.BODY, paint, paint)
    distance = float(np.hypot(*(faces.eye - car[:2])))
    ahead, aside = ego_axes(car, faces.eye)  # the camera, seen from the car
    if distance < camera.DETAIL:
        if abs(aside) > size[1] / 2:
            for axle in camera.WHEELS:
                x, z = axle * size[0] / 2 + 0.34 * np.cos(OCTAGON), 0.33 + 0.34 * np.sin(OCTAGON)
                faces.paint(
                    place(car, np.column_stack([x, np.full(8, np.sign(aside) * 0.505 * size[1]), z])), camera.TYRE
                )
        x = np.full(4, np.sign(ahead) * 0.505 * size[0])
        for side in (-1, 1):
            y, z = np.array([0.95, 0.6, 0.6, 0.95]) * side * size[1] / 2, np.array([0.42, 0.42, 0.55, 0.55]) * size[2]
            faces.paint(place(car, np.column_stack([x, y, z])), camera.TAIL if ahead < 0 else camera.LAMP)
    if distance < camera.SILHOUETTE:
        paint_box(faces, car, size, camera.CABIN, camera.GLASS, paint)


def paint_sign(faces: Faces, sign: Floats) -> None:
    """Pole, rim and octagon."""
    zero = np.zeros(4)
    faces.paint(
        place(sign, np.column_stack([zero, [-0.05, 0.05, 0.05, -0.05], [0, 0, 1.9, 1.9]])), camera.POLE, 1.0, 0.15
    )
    front = ego_axes(sign, faces.eye)[0] < 0
    for radius, colour in ((0.46, camera.RIM), (0.39, camera.SIGN)):
        ring = np.column_stack([np.zeros(8), radius * np.cos(OCTAGON), 2.25 + radius * np.sin(OCTAGON)])
        faces.paint(place(sign, ring), colour if front else camera.BACK)
