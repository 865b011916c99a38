"""The picture for people: a wide view ahead, all six image sensors as tiles, speed, reward and what it was made of."""

from __future__ import annotations

from collections.abc import Collection

import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.sensors.scene import Scene
from wiser.envs.driving.sensors.suite import IMAGE_SENSORS, SensorSuite
from wiser.envs.driving.sensors.textures import Surface
from wiser.envs.driving.tasks import TARGET_SPEED, TIME_LIMIT, Task
from wiser.envs.driving.world import World

WIDTH, HEIGHT = 960, 540
VIEW_WIDTH, VIEW_HEIGHT, VIEW_TOP = 612, 400, 140  # the camera's picture, cropped from a square one
TILE = 165
INK, DIM, PANEL = (232, 234, 238), (138, 144, 156), (20, 23, 28)
GOOD, BAD, ACCENT = (84, 200, 120), (232, 84, 72), (64, 140, 250)
LABELS = {"birdeye_with_traffic_lights": "birdeye + signals", "birdeye_wpt": "birdeye + waypoints"}


class Picture:
    """Draws one world of a task large; sensors in `renders` come from the simulator, the rest from the scene."""

    def __init__(self, task: Task, surface: Surface | None = None, renders: Collection[str] = ()) -> None:
        self.task = task
        self._camera = None if "camera" in renders else SensorSuite(task, ["camera"], VIEW_WIDTH, surface)
        self._tiles = SensorSuite(task, [name for name in IMAGE_SENSORS if name not in renders], TILE, surface)

    def draw(self, world: World, b: int, total: float, terms: dict[str, float]) -> NDArray[np.uint8]:
        """World b: (540, 960, 3)."""
        scene = world.scene()
        one = Scene(*(part if name == "signs" else part[b : b + 1] for name, part in scene._asdict().items()))
        canvas = np.full((HEIGHT, WIDTH, 3), PANEL, np.uint8)
        if self._camera is None:
            ahead = world.images(VIEW_WIDTH)["camera"][b]
        else:
            ahead = self._camera.draw(one, self._camera.empty(1))[0, 0]
        canvas[:VIEW_HEIGHT, :VIEW_WIDTH] = ahead[VIEW_TOP : VIEW_TOP + VIEW_HEIGHT]
        tiles = self._tiles.split(self._tiles.draw(one, self._tiles.empty(1)))
        tiles |= {name: image[b : b + 1] for name, image in world.images(TILE).items()}
        for k, name in enumerate(IMAGE_SENSORS):
            row, column = divmod(k, 2)
            x, y = VIEW_WIDTH + 6 + column * (TILE + 5), row * (TILE + 15) + 14
            canvas[y : y + TILE, x : x + TILE] = tiles[name][0]
            write(canvas, LABELS.get(name, name.replace("_", " ")), (x, y - 3), 0.36, DIM)
        self._panel(canvas, float(one.ego[0, 3]), int(world.progress.steps[b]), total, terms)
        return canvas

    def _panel(self, canvas: NDArray[np.uint8], speed: float, step: int, total: float, terms: dict[str, float]) -> None:
        """Task, clock, speed and the terms of the reward, below the view ahead."""
        write(canvas, self.task.title, (16, VIEW_HEIGHT + 34), 0.78, INK, 2)
        write(canvas, f"{step / 10:.1f} s of {TIME_LIMIT / 10:.0f}", (16, VIEW_HEIGHT + 60), 0.46, DIM)
        write(canvas, f"{speed:.1f} m/s", (16, VIEW_HEIGHT + 100), 0.86, INK, 2)
        bar(canvas, (16, VIEW_HEIGHT + 112), 170, speed / (2 * TARGET_SPEED), ACCENT)
        middle = 16 + 170 // 2
        cv2.line(canvas, (middle, VIEW_HEIGHT + 109), (middle, VIEW_HEIGHT + 123), INK, 1)
        write(canvas, "return", (216, VIEW_HEIGHT + 60), 0.46, DIM)
        write(canvas, f"{total:.0f}", (216, VIEW_HEIGHT + 100), 0.86, INK, 2)
        for k, (name, value) in enumerate(terms.items()):
            y = VIEW_HEIGHT + 24 + k * 19
            write(canvas, name, (330, y + 8), 0.42, DIM)
            cv2.line(canvas, (490, y), (490, y + 9), DIM, 1)
            length = int(np.clip(value / 4.0, -1.0, 1.0) * 56)
            if length:
                low, high = sorted((490, 490 + length))
                cv2.rectangle(canvas, (low, y), (high, y + 8), GOOD if value > 0 else BAD, -1)
            write(canvas, f"{value:+.1f}", (556, y + 8), 0.42, INK if value else DIM)


def write(
    canvas: NDArray[np.uint8],
    text: str,
    place: tuple[int, int],
    scale: float,
    colour: tuple[int, int, int],
    weight: int = 1,
) -> None:
    """Text with its baseline at a place."""
    cv2.putText(canvas, text, place, cv2.FONT_HERSHEY_SIMPLEX, scale, colour, weight, cv2.LINE_AA)


def bar(
    canvas: NDArray[np.uint8], place: tuple[int, int], length: int, share: float, colour: tuple[int, int, int]
) -> None:
    """A horizontal gauge."""
    x, y = place
    cv2.rectangle(canvas, (x, y), (x + length, y + 8), (46, 50, 58), -1)
    cv2.rectangle(canvas, (x, y), (x + int(np.clip(share, 0.0, 1.0) * length), y + 8), colour, -1)
