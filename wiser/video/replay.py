"""A gated clip as a recording: the pages, films and files of `wiser.record` show it, a lane for each gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from wiser.guard import Mode
from wiser.record import About, Recorder, Recording
from wiser.video.gate import Gated
from wiser.video.predictor import Pixels, pixels
from wiser.video.verdicts import SENSOR, believed, imagined
from wiser.worldmodel.protocol import Sensor

WIDTH = 256
"""Pixels of a frame on a page."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a gate made of a clip, and what was then generated."""

    gated: Gated
    generated: Tensor | None = None
    """(n, H, W, 3)."""


def record(
    clip: Pixels,
    outcomes: Mapping[str, Outcome],
    about: About,
    fault: str = "",
    broken: NDArray[np.bool_] | None = None,
) -> Recording:
    """Frame by frame what was observed and what the gate said of it; the view is what the model goes on from, or makes.

    Lanes begin together: where one gate judges fewer frames than another, the first are shown as they are.

    broken: (T,) the truth, if it is known, and the name of the fault.
    """
    shown = _small(clip)
    begin = min(outcome.gated.start for outcome in outcomes.values())
    recorder = Recorder([Sensor(SENSOR, shown.shape[1:])], list(outcomes), about)
    for name, outcome in outcomes.items():
        window, gated = _small(pixels(outcome.gated.window)), outcome.gated
        unjudged = gated.start - begin
        views = [*shown[begin : gated.start], *window]
        predicted = 0
        for place, verdict in enumerate([*[believed()] * unjudged, *gated.verdicts]):
            index = begin + place
            truth = {SENSOR: (fault, 1.0)} if broken is not None and broken[index] else {}
            predicted += verdict.mode in (Mode.PREDICTIVE, Mode.FALLBACK)
            recorder.add(name, {SENSOR: shown[index]}, verdict, measure=predicted, broken=truth, view=views[place])
        blind = gated.verdicts[-1].blind_steps
        for step, frame in enumerate([] if outcome.generated is None else _small(pixels(outcome.generated))):
            recorder.add(name, {}, imagined(blind + step + 1), measure=predicted + step + 1, view=frame)
    return recorder.recording()


def _small(frames: Pixels) -> Pixels:
    height, width = frames.shape[1:3]
    if width <= WIDTH:
        return frames
    size = (WIDTH, max(1, round(height * WIDTH / width)))
    return np.stack([cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in frames]).astype(np.uint8)
