"""All image sensors of a batch of worlds, drawn into one array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.sensors.birdeye import (
    PLAN,
    RANGE,
    cover_plans,
    draw_base,
    draw_sight,
    draw_signs,
    draw_vehicles,
)
from wiser.envs.driving.sensors.camera import draw_camera
from wiser.envs.driving.sensors.lidar import draw_lidar, polar_table
from wiser.envs.driving.sensors.primitives import clear_cover, paint_cover
from wiser.envs.driving.sensors.scene import Scene
from wiser.envs.driving.sensors.textures import Surface, ground, ground_on
from wiser.envs.driving.tasks import Task
from wiser.kernels import kernel

IMAGE_SENSORS = ("camera", "lidar", "birdeye_raw", "birdeye_with_traffic_lights", "birdeye_wpt", "birdeye_gt")
SENSORS = (*IMAGE_SENSORS, "collision")
# What each bird's-eye view adds. Those that show plans must have the same range: they share one coverage.
SIGNALS, PLANS, EVERYTHING = range(3)
LAYERS = {
    "birdeye_raw": (False, False, False),
    "birdeye_with_traffic_lights": (True, False, False),
    "birdeye_wpt": (False, True, False),
    "birdeye_gt": (True, True, True),
}


@kernel
def copy_image(source, target):  # type: ignore[no-untyped-def]
    """Copy (H, W, 3); flat, for the vectoriser."""
    a, b = source.reshape(-1), target.reshape(-1)
    for k in range(a.shape[0]):
        b[k] = a[k]


@kernel
def _draw_birdeye(texture, scene, b, columns, ranges, layers, cover, out):  # type: ignore[no-untyped-def]
    """The bird's-eye views of world b; those with the same range share road and route."""
    for k in range(columns.shape[0]):
        shared = -1
        for earlier in range(k):
            if ranges[earlier] == ranges[k]:
                shared = earlier
                break
        if shared < 0:
            draw_base(texture, scene.ego[b], scene.route[b], ranges[k], cover, out[b, columns[k]])
            for later in range(k + 1, columns.shape[0]):
                if ranges[later] == ranges[k]:
                    copy_image(out[b, columns[k]], out[b, columns[later]])
    planned = False
    for k in range(columns.shape[0]):
        if layers[k, PLANS]:
            if not planned:
                cover_plans(scene, b, ranges[k], cover)
                planned = True
            paint_cover(out[b, columns[k]], cover, PLAN)
    clear_cover(cover)
    for k in range(columns.shape[0]):
        image = out[b, columns[k]]
        draw_vehicles(scene, b, ranges[k], layers[k, EVERYTHING], image)
        if layers[k, EVERYTHING]:
            draw_sight(ranges[k], cover, image)
        if layers[k, SIGNALS]:
            draw_signs(scene, b, ranges[k], image)


@kernel
def _draw_all(birdeye, camera, lidar, polar, scene, columns, ranges, layers, camera_column, lidar_column, out):  # type: ignore[no-untyped-def]
    cover = np.zeros(out.shape[2:4])
    for b in range(out.shape[0]):
        if camera_column >= 0:
            draw_camera(camera, scene, b, out[b, camera_column])
        if lidar_column >= 0:
            draw_lidar(lidar, polar, scene, b, out[b, lidar_column])
        _draw_birdeye(birdeye, scene, b, columns, ranges, layers, cover, out)


class SensorSuite:
    """Draws chosen image sensors of one task, in the order of their names; on other roads than its own if given."""

    def __init__(
        self, task: Task, names: Sequence[str] = IMAGE_SENSORS, size: int = 64, surface: Surface | None = None
    ) -> None:
        unknown = set(names) - set(IMAGE_SENSORS)
        if unknown:
            raise ValueError(f"no image sensor called {sorted(unknown)}; there are {IMAGE_SENSORS}")
        self.names, self.size = tuple(names), size
        views = [name for name in self.names if name in LAYERS]
        signals_range = {"birdeye_with_traffic_lights": task.signals_range}
        self._columns = np.array([self.names.index(name) for name in views], np.int64)
        self._ranges = np.array([signals_range.get(name, RANGE) for name in views])
        self._layers = np.array([LAYERS[name] for name in views], np.bool_).reshape(-1, 3)
        self._camera_column = self.names.index("camera") if "camera" in self.names else -1
        self._lidar_column = self.names.index("lidar") if "lidar" in self.names else -1
        styles = [style if style in self.names else "birdeye" for style in ("birdeye", "camera", "lidar")]
        self._textures = [ground(task.name, s) if surface is None else ground_on(surface, s) for s in styles]
        self._polar = polar_table(size)

    def empty(self, batch: int) -> NDArray[np.uint8]:
        """An array to draw into: (B, sensors, H, W, 3)."""
        return np.zeros((batch, len(self.names), self.size, self.size, 3), np.uint8)

    def draw(self, scene: Scene, out: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw the scene into `out` (B, sensors, H, W, 3) and return it."""
        birdeye, camera, lidar = self._textures
        _draw_all(
            birdeye, camera, lidar, self._polar, scene, self._columns, self._ranges, self._layers,
            self._camera_column, self._lidar_column, out,
        )  # fmt: skip
        return out

    def split(self, images: NDArray[np.uint8]) -> dict[str, NDArray[np.uint8]]:
        """Views of the array by sensor name, each (B, H, W, 3)."""
        return {name: images[:, k] for k, name in enumerate(self.names)}
