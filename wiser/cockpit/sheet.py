"""All pictures of a step in one JPEG: one message and one decoding, however many sensors there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.record.sheets import displayable
from wiser.record.step import Step
from wiser.worldmodel.protocol import Sensor

WIDTH = 800
BLOCK = 8  # pixels that JPEG codes together: pictures which share none do not bleed into each other
QUALITY = [
    cv2.IMWRITE_JPEG_QUALITY, 90,
    cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,  # thin coloured lines stay coloured
]  # fmt: skip

Place = tuple[int, int, int, int]
"""x, y, width, height."""


class LanePlaces(TypedDict):
    """Where the pictures of a lane lie; None for what is not a picture or not there."""

    view: Place | None
    readings: list[Place | None]
    predictions: list[Place | None]


class Shelves:
    """Puts rectangles side by side on shelves of one width."""

    def __init__(self) -> None:
        self._x, self._y, self.height = 0, 0, 0

    def put(self, height: int, width: int) -> Place:
        """Find room for one more."""
        if self._x + width > WIDTH:
            self._x, self._y = 0, self.height
        place = (self._x, self._y, width, height)
        self._x += _whole_blocks(width)
        self.height = max(self.height, self._y + _whole_blocks(height))
        return place


class Sheet:
    """The image of one episode. A lane that is over stays as it was."""

    def __init__(self, sensors: Sequence[Sensor], steps: Sequence[Step]) -> None:
        """Give every picture of the first step its place."""
        self._sensors = sensors
        shelves = Shelves()
        self.lanes: list[LanePlaces] = [
            {
                "view": None if step.view is None else shelves.put(*step.view.shape[:2]),
                "readings": [shelves.put(*s.shape[:2]) if s.is_image else None for s in sensors],
                "predictions": [
                    shelves.put(*s.shape[:2]) if s.is_image and s.name in step.predictions else None for s in sensors
                ],
            }
            for step in steps
        ]
        width = max(WIDTH, *(place[0] + place[2] for lane in self.lanes for place in _all(lane)), 0)
        self._canvas = np.zeros((shelves.height or 1, width, 3), np.uint8)  # blue first, as OpenCV wants it

    def draw(self, steps: Sequence[Step | None]) -> bytes:
        """The JPEG of a step."""
        for lane, step in zip(self.lanes, steps, strict=True):
            if step is None:
                continue
            self._paint(lane["view"], step.view)
            for k, sensor in enumerate(self._sensors):
                self._paint(lane["readings"][k], step.readings[sensor.name])
                self._paint(lane["predictions"][k], step.predictions.get(sensor.name))
        done, data = cv2.imencode(".jpg", self._canvas, QUALITY)
        if not done:
            raise RuntimeError("OpenCV cannot write JPEG here")
        return bytes(data.tobytes())

    def _paint(self, place: Place | None, picture: NDArray[Any] | None) -> None:
        if place is not None and picture is not None:
            x, y, width, height = place
            self._canvas[y : y + height, x : x + width] = displayable(picture)[..., ::-1]


def _all(lane: LanePlaces) -> list[Place]:
    return [place for place in (lane["view"], *lane["readings"], *lane["predictions"]) if place is not None]


def _whole_blocks(pixels: int) -> int:
    return -(-pixels // BLOCK) * BLOCK
