"""CARLA's sensors: how they are mounted, how their bytes become images, and how to wait for the right frame.

Decoding is pure functions over bytes. The callbacks run in threads of the client library and only copy.
"""

from __future__ import annotations

import math
import queue
import time
from typing import NamedTuple

import carla
import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.carla_backend.server import CarlaError, Session
from wiser.envs.driving.dynamics import LENGTH, WIDTH
from wiser.envs.driving.roads import Floats
from wiser.envs.driving.sensors import camera, lidar
from wiser.envs.driving.sensors.birdeye import BEHIND, RANGE
from wiser.envs.driving.sensors.primitives import fill_box
from wiser.envs.driving.sensors.textures import STYLES
from wiser.envs.driving.tasks import STEP_SECONDS

KERB, OBSTACLE = 0.06, 0.3  # metres above the road from which a return counts as such
DARK, DIM = 0.06, 0.30  # brightness of what no beam reached, and of the faintest return from the ground
RENDERED = ("camera", "lidar")


class Frame(NamedTuple):
    """What a sensor sent for one tick."""

    number: int
    data: bytes


class SensorQueue:
    """Frames of one sensor, from the client library's thread to ours."""

    def __init__(self, name: str, timeout: float) -> None:
        self.name, self.timeout = name, timeout
        self._frames: queue.SimpleQueue[Frame] = queue.SimpleQueue()

    def put(self, measurement: carla.Image | carla.LidarMeasurement) -> None:
        """Copy a measurement: its memory is only lent to the callback."""
        self._frames.put(Frame(measurement.frame, bytes(measurement.raw_data)))

    def wait(self, number: int) -> bytes:
        """The data of a tick. Earlier ones are dropped; waiting has an end."""
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                frame = self._frames.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                raise CarlaError(
                    f"the {self.name} sent nothing for frame {number} in {self.timeout:g} s. Is the server rendering "
                    "(no_rendering_mode off, graphics driver present)? If it is slow, raise timeout="
                ) from None
            if frame.number == number:
                return frame.data
            if frame.number > number:
                raise CarlaError(f"the {self.name} skipped frame {number}: is another client ticking this server?")


class CollisionLog:
    """Collision events as they come in."""

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[float] = queue.SimpleQueue()

    def put(self, event: carla.CollisionEvent) -> None:
        """Note how hard the ego was hit."""
        self._events.put(event.normal_impulse.length())

    def take(self) -> float:
        """1 if the ego has touched something since the last call, else 0."""
        touched = 0.0
        while not self._events.empty():
            self._events.get()
            touched = 1.0
        return touched


def decode_camera(data: bytes, size: int) -> NDArray[np.uint8]:
    """A square image from the bytes blue, green, red, alpha of each pixel: (size, size, 3) red, green, blue."""
    side = math.isqrt(len(data) // 4)
    pixels = np.frombuffer(data, np.uint8).reshape(side, side, 4)
    image = np.ascontiguousarray(pixels[:, :, 2::-1])
    if side == size:
        return image
    shrink = cv2.INTER_AREA if size < side else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, (size, size), interpolation=shrink), np.uint8)


def decode_lidar(data: bytes) -> NDArray[np.float32]:
    """Points from the bytes of four floats each: (P, 4) metres ahead, right and up of the sensor, and intensity."""
    return np.frombuffer(data, np.float32).reshape(-1, 4)


def draw_points(points: NDArray[np.float32], size: int) -> NDArray[np.uint8]:
    """A point cloud from above, in the colours and the frame of the embedded lidar view: (size, size, 3)."""
    style, scale = STYLES["lidar"], size / RANGE
    ahead, right, up, intensity = points.astype(np.float64).T
    u, v, height = size / 2 + right * scale - 0.5, (RANGE - BEHIND - ahead) * scale - 0.5, up + lidar.MOUNT
    low = height < OBSTACLE
    image = np.empty((size, size, 3))
    image[:] = np.array(style.asphalt) * DARK
    ground = np.where(height[low, None] < KERB, np.array(style.asphalt), np.array(style.kerb))
    bright = DIM + (1.0 - DIM) * np.clip(intensity[low, None], 0.0, 1.0)
    _spread(image, u[low], v[low], ground * bright)
    obstacles = np.zeros((size, size, 2))  # how much of the pixel is hit, and how high up
    _spread(obstacles, u[~low], v[~low], np.stack([np.ones((~low).sum()), height[~low]], axis=1))
    cover = obstacles[..., :1]
    top = obstacles[..., 1:] / np.maximum(cover, 1e-6)
    colour = np.concatenate([np.interp(top, lidar.HEIGHTS, lidar.COLOURS[:, k]) for k in range(3)], axis=2)
    out = (image * (1.0 - cover) + colour * cover + 0.5).astype(np.uint8)
    centre, half_length, half_width = (RANGE - BEHIND) * scale, 0.5 * LENGTH * scale, 0.5 * WIDTH * scale
    fill_box(out, size / 2.0, centre, -math.pi / 2, half_length, half_width, lidar.EGO)
    return out


def _spread(image: Floats, u: Floats, v: Floats, values: Floats) -> None:
    """Give each point's values (P, C) to the four pixels round it, by nearness; the largest stays."""
    size = len(image)
    left, top = np.floor(u).astype(np.int64), np.floor(v).astype(np.int64)
    for i, j in ((top, left), (top, left + 1), (top + 1, left), (top + 1, left + 1)):
        inside = (i >= 0) & (i < size) & (j >= 0) & (j < size)
        weight = np.minimum(1.6 * (1.0 - np.abs(v - i)) * (1.0 - np.abs(u - j)), 1.0)
        np.maximum.at(image, (i[inside], j[inside]), (values * weight[:, None])[inside])


def camera_attributes(pixels: int) -> dict[str, str]:
    """The forward camera."""
    field_of_view = f"{math.degrees(camera.FIELD_OF_VIEW):g}"
    return {"image_size_x": str(pixels), "image_size_y": str(pixels), "fov": field_of_view}


def lidar_attributes() -> dict[str, str]:
    """The lidar: one whole turn per step, with the embedded one's channels and beams."""
    turns = 1.0 / STEP_SECONDS
    return {
        "channels": str(lidar.RINGS),
        "range": f"{RANGE:g}",
        "lower_fov": f"{lidar.LOWEST:g}",
        "upper_fov": f"{lidar.HIGHEST:g}",
        "rotation_frequency": f"{turns:g}",
        "points_per_second": f"{lidar.RINGS * lidar.BEAMS * turns:.0f}",
    }


class SensorRig:
    """The sensors mounted on one ego, and their latest images."""

    def __init__(self, session: Session, ego: carla.Vehicle, names: tuple[str, ...], pixels: int) -> None:
        self.collisions = CollisionLog()
        self._queues: dict[str, SensorQueue] = {}
        self._data: dict[str, bytes] = {}
        library = session.world.get_blueprint_library()
        middle = ego.bounding_box.location.x  # our sensors are placed from the middle of the car
        touch = session.spawn_sensor(library.find("sensor.other.collision"), carla.Transform(), ego)
        touch.listen(self.collisions.put)
        mounts = {
            "camera": ("sensor.camera.rgb", camera.FORWARD, camera.UP, camera_attributes(pixels)),
            "lidar": ("sensor.lidar.ray_cast", 0.0, lidar.MOUNT, lidar_attributes()),
        }
        for name in names:
            kind, ahead, up, attributes = mounts[name]
            blueprint = library.find(kind)
            for key, value in attributes.items():
                blueprint.set_attribute(key, value)
            place = carla.Transform(carla.Location(x=middle + ahead, y=0.0, z=up))
            self._queues[name] = SensorQueue(name, session.options.timeout)
            session.spawn_sensor(blueprint, place, ego).listen(self._queues[name].put)

    def collect(self, frame: int) -> bool:
        """Wait until every sensor has sent this frame; whether the ego touched something meanwhile."""
        self._data = {name: frames.wait(frame) for name, frames in self._queues.items()}
        return self.collisions.take() > 0.0

    def images(self, size: int) -> dict[str, NDArray[np.uint8]]:
        """The latest images: (size, size, 3) each."""
        decode = {
            "camera": lambda data: decode_camera(data, size),
            "lidar": lambda data: draw_points(decode_lidar(data), size),
        }
        return {name: decode[name](data) for name, data in self._data.items()}
