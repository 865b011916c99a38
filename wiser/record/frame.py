"""One frame of a film of a recording: the lanes side by side, with the signs of the web page."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from wiser.guard import Mode
from wiser.record.recording import Lane, Recording
from wiser.record.sheets import displayable
from wiser.worldmodel.protocol import Sensor

TILE, GAP, CAPTION = 112, 8, 34
WIDTH = 3 * TILE + 2 * GAP  # of a lane
MARGIN, TOP, HEAD, STRIP = 26, 56, 58, 12
PAPER, CARD, INK, DIM = "#f4f5f7", "#ffffff", "#1a1d23", "#5a6170"
COLOURS = {"trusted": "#009e73", "masked": "#7a818e", "unhealthy": "#d55e00"}  # as on the page
HAZARD, ACCENT = "#f0e442", "#0072b2"
Drawing = ImageDraw.ImageDraw


class FrameArtist:
    """Draws the steps of a recording, all in one size."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.view_height = max(_view_height(lane) for lane in recording.lanes)
        self.places = places(len(recording.sensors), first_large=self.view_height == 0)
        self.strips_top = TOP + HEAD + self.view_height + max(y + size + CAPTION for _, y, size in self.places)
        height = self.strips_top + STRIP * len(recording.sensors) + MARGIN
        width = MARGIN + len(recording.lanes) * (WIDTH + MARGIN)
        self.size = (width + width % 2, height + height % 2)  # films want even ones
        self.background = self._draw_background()

    def draw(self, step: int) -> NDArray[np.uint8]:
        """The frame (H, W, 3) of a step; lanes that are over stay at their last one."""
        image = self.background.copy()
        pen = ImageDraw.Draw(image)
        text(pen, f"step {step}", self.size[0] - MARGIN, 16, 18, DIM, "ra")
        for index, lane in enumerate(self.recording.lanes):
            self._draw_lane(image, pen, lane, min(step, len(lane) - 1), self._left(index))
            x = self._left(index) + round(step * (WIDTH - 1) / max(1, self.recording.steps - 1))
            bottom = self.strips_top + STRIP * len(self.recording.sensors)
            pen.line((x, self.strips_top, x, bottom), ACCENT, 2)
        return np.asarray(image)

    def _left(self, index: int) -> int:
        return MARGIN + index * (WIDTH + MARGIN)

    def _draw_background(self) -> Image.Image:
        image = Image.new("RGB", self.size, PAPER)
        pen = ImageDraw.Draw(image)
        text(pen, fitted(self.recording.about.title, 18, self.size[0] - 160), MARGIN, 14, 18, INK)
        for index, lane in enumerate(self.recording.lanes):
            left = self._left(index)
            pen.rounded_rectangle((left - 8, TOP - 8, left + WIDTH + 8, self.size[1] - 6), 8, CARD)
            text(pen, fitted(lane.name, 16, WIDTH - 110), left, TOP, 16, INK)
            for column in range(len(self.recording.sensors)):
                self._draw_strip(pen, lane, column, left, self.strips_top + column * STRIP)
        return image

    def _draw_strip(self, pen: Drawing, lane: Lane, column: int, left: int, top: int) -> None:
        """One sensor over time: thick where trusted, thin where masked, on yellow where really broken."""
        wide = (WIDTH - 1) / max(1, self.recording.steps - 1)
        for step in range(len(lane)):
            x, end = left + step * wide, left + (step + 1) * wide
            if lane.intensity[step, column] > 0:
                pen.rectangle((x, top, end, top + STRIP - 2), HAZARD)
        for step in range(len(lane)):
            x, end = left + step * wide, left + (step + 1) * wide
            state = state_of(lane, step, column)
            half = {"trusted": 3, "masked": 0, "unhealthy": 2}[state]
            pen.rectangle((x, top + STRIP // 2 - 1 - half, end, top + STRIP // 2 - 1 + half), COLOURS[state])

    def _draw_lane(self, image: Image.Image, pen: Drawing, lane: Lane, step: int, left: int) -> None:
        text(pen, f"{self.recording.about.measure} {lane.measure[step]:.3g}", left + WIDTH, TOP, 16, INK, "ra")
        note = lane.outcome if step == len(lane) - 1 else ""
        mode = Mode(int(lane.mode[step])).name.lower()
        text(pen, f"{mode}   {lane.method}", left, TOP + 26, 13, DIM)
        text(pen, fitted(note, 13, 170), left + WIDTH, TOP + 26, 13, INK, "ra")
        top = TOP + HEAD
        if lane.view is not None:
            height = _view_height(lane) - GAP
            image.paste(Image.fromarray(lane.view[step]).resize((WIDTH, height)), (left, top))
        for column, (x, y, size) in enumerate(self.places):
            place = (left + x, top + self.view_height + y, size)
            self._draw_tile(image, pen, lane, step, column, place)

    def _draw_tile(
        self, image: Image.Image, pen: Drawing, lane: Lane, step: int, column: int, place: tuple[int, int, int]
    ) -> None:
        sensor, state, (x, y, size) = self.recording.sensors[column], state_of(lane, step, column), place
        picture = picture_of(lane.readings[sensor.name][step], sensor).resize((size, size), Image.Resampling.NEAREST)
        if state != "trusted":
            picture = Image.blend(picture, Image.new("RGB", picture.size, CARD), 0.5)
        image.paste(picture, (x, y))
        pen.rectangle((x - 2, y - 2, x + size + 1, y + size + 1), None, COLOURS[state], 2)
        text(pen, fitted(sensor.name.replace("_", " "), 11, size), x, y + size + 3, 11, DIM)
        draw_light(pen, state, x, y + size + 18)
        word = str(lane.reason[step, column]) if state == "unhealthy" else state
        text(pen, fitted(word, 11, size - 16), x + 15, y + size + 17, 11, INK)
        if lane.intensity[step, column] > 0:
            fault = fitted(str(lane.fault[step, column]), 11, size - 16)
            pen.rounded_rectangle((x + 3, y + 3, x + 13 + font(11).getlength(fault), y + 20), 4, HAZARD, INK)
            text(pen, fault, x + 8, y + 5, 11, INK)


def places(sensors: int, first_large: bool) -> list[tuple[int, int, int]]:
    """(x, y, size) of every sensor's picture, three in a row; a large one takes the place of four."""
    cells = [(x * (TILE + GAP), y * (TILE + CAPTION), TILE) for y in range(sensors + 1) for x in range(3)]
    if first_large:
        cells = [(0, 0, 2 * TILE + GAP), cells[2], cells[5], *cells[6:]]
    return cells[:sensors]


def _view_height(lane: Lane) -> int:
    return 0 if lane.view is None else round(WIDTH * lane.view.shape[1] / lane.view.shape[2]) + GAP


def state_of(lane: Lane, step: int, column: int) -> str:
    """What the guard makes of a sensor: trusted, masked or unhealthy."""
    if lane.trusted[step, column]:
        return "trusted"
    return "masked" if lane.healthy[step, column] else "unhealthy"


def picture_of(reading: NDArray[Any], sensor: Sensor) -> Image.Image:
    """A reading as a picture; numbers as bars."""
    if sensor.is_image:
        return Image.fromarray(np.ascontiguousarray(displayable(reading)))
    picture = Image.new("RGB", (64, 64), PAPER)
    pen, wide = ImageDraw.Draw(picture), 64 / len(reading)
    low, high = (sensor.low, sensor.high) if np.isfinite(sensor.high - sensor.low) else (-1.0, 1.0)
    for k, share in enumerate(np.clip((np.nan_to_num(reading) - low) / (high - low), 0.0, 1.0)):
        pen.rectangle((k * wide + 2, 62 - 60 * share, (k + 1) * wide - 2, 62), ACCENT)
    return picture


def draw_light(pen: Drawing, state: str, x: int, y: int) -> None:
    """The sign of a state: a disc, a crossed-out square, a triangle."""
    colour, end = COLOURS[state], (x + 10, y + 10)
    if state == "trusted":
        pen.ellipse((x, y, *end), colour)
    elif state == "masked":
        pen.rectangle((x, y, *end), None, colour, 2)
        pen.line((x, y + 10, x + 10, y), colour, 2)
    else:
        pen.polygon([(x, y + 10), end, (x + 5, y)], colour)


def text(pen: Drawing, words: str, x: float, y: float, size: int, colour: str, anchor: str = "la") -> None:
    """Words at a place; "ra" ends them there."""
    pen.text((x, y), words, colour, font(size), anchor)


def fitted(words: str, size: int, width: float) -> str:
    """Words cut so that they fit."""
    if font(size).getlength(words) <= width:
        return words
    while words and font(size).getlength(words + "…") > width:
        words = words[:-1]
    return words + "…"


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    """The font that matplotlib brings, so that films look alike everywhere."""
    return ImageFont.truetype(Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"), size)
