"""A recording as one web page: everything inside, nothing fetched, nothing to install."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.files import replacing
from wiser.guard import Level, Mode
from wiser.record.recording import Lane, Recording
from wiser.record.sample import Sample
from wiser.record.sheets import sheets
from wiser.record.stillness import stale_steps
from wiser.worldmodel.protocol import Sensor

BARS = 64  # pixels of the square in which numbers are drawn as bars
PAGE = Path(__file__).parent / "page"
SCRIPTS = ("dom.js", "lane.js", "chart.js", "traces.js", "panel.js", "strip.js", "unpack.js", "replay.js")


def to_html(recording: Recording, path: str | Path, sample: Sample | None = None) -> Path:
    """Write a page that replays the recording in any browser, also from a stick or an attachment.

    With a `sample` it shows where the episode lies among all, and links to the pages of others in the same folder.
    """
    script = "\n".join((PAGE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    style = (PAGE / "page.css").read_text(encoding="utf-8")
    parts = {
        "title": html.escape(recording.about.title),
        "policy": f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        "style": style,
        "script": script,
        "recording": inert_json(page_data(recording) | {"sample": sample and _sample(sample, recording.lanes)}),
    }
    template = (PAGE / "replay.html").read_text(encoding="utf-8")
    page = re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)  # one pass: no part can name another
    with replacing(path) as temporary:
        temporary.write_bytes(page.encode())
    return Path(path)


def page_data(recording: Recording) -> dict[str, Any]:
    """What `unpack.js` reads, as plain data."""
    return {
        "about": vars(recording.about),
        "modes": [mode.name.lower() for mode in Mode],
        "sensors": [_sensor(sensor, recording.lanes) for sensor in recording.sensors],
        "bands": recording.bands,
        "levels": [level.name for level in Level],
        "lanes": [_lane(lane, recording.sensors, recording.about.steps_per_second) for lane in recording.lanes],
    }


def _sample(sample: Sample, lanes: Sequence[Lane]) -> dict[str, Any]:
    """What `strip.js` reads."""
    episodes = [
        {
            "number": number,
            "scores": [float(sample.scores[lane.name][number]) for lane in lanes],
            "label": sample.pages[number][0] if number in sample.pages else "",
            "page": sample.pages[number][1] if number in sample.pages else "",
        }
        for number in sample.order
    ]
    return {"episodes": episodes, "sortedBy": sample.sorted_by, "shown": sample.shown}


def inert_json(data: Any) -> str:
    """JSON that stays data inside a page, whatever the texts in it say; numbers that are not finite become null."""
    text = json.dumps(_finite(data), separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _sensor(sensor: Sensor, lanes: Sequence[Lane]) -> dict[str, Any]:
    """Name and form; vectors with the range to draw them in, the one they had if they declare none."""
    low, high = sensor.low, sensor.high
    if not sensor.is_image and not (math.isfinite(low) and math.isfinite(high)):
        values = np.concatenate([lane.readings[sensor.name].ravel() for lane in lanes])
        values = values[np.isfinite(values)]
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    height, width = sensor.shape[:2] if sensor.is_image else (BARS, BARS)
    return {"name": sensor.name, "width": width, "height": height, "low": low, "high": high}


def _lane(lane: Lane, sensors: Sequence[Sensor], steps_per_second: float) -> dict[str, Any]:
    words = ["", *sorted({*lane.reason.ravel().tolist(), *_faults(lane).ravel().tolist()} - {""})]
    code = {word: index for index, word in enumerate(words)}
    state = np.where(lane.trusted, "t", np.where(lane.healthy, "m", "u"))  # (T, N)
    return {
        "name": lane.name,
        "method": lane.method,
        "outcome": lane.outcome,
        "steps": len(lane),
        "readings": {s.name: _frames(lane.readings[s.name], s) for s in sensors},
        "predictions": {
            s.name: _frames(lane.predictions[s.name], s, exact=False) for s in sensors if s.name in lane.predictions
        },
        "view": None if lane.view is None else sheets(lane.view, exact=False),
        "present": ["".join("1" if here else "0" for here in column) for column in lane.present.T],
        "state": ["".join(column) for column in state.T],
        "level": ["".join(map(str, column)) for column in lane.level.T.tolist()],
        "late": _short(lane.delay.T / steps_per_second),
        "stale": stale_steps(lane).T.tolist(),
        "words": words,
        "reason": [[code[word] for word in column] for column in lane.reason.T.tolist()],
        "fault": [[code[word] for word in column] for column in _faults(lane).T.tolist()],
        "mode": lane.mode.tolist(),
        "blind": lane.blind_steps.tolist(),
        "reset": np.flatnonzero(lane.reset).tolist(),
        "surprise": _short(lane.surprise),
        "measure": _short(lane.measure),
        "scores": {name: _short(values) for name, values in lane.scores.items()},
    }


def _frames(frames: NDArray[Any], sensor: Sensor, exact: bool = True) -> Any:
    return sheets(frames, exact) if sensor.is_image else _short(frames)


def _faults(lane: Lane) -> NDArray[Any]:
    """(T, N) text: the fault, and how severe it is if that is not plain severe."""
    named = [
        [
            f"{fault} {intensity:.2g}" if fault and intensity != 1 else fault
            for fault, intensity in zip(*row, strict=True)
        ]
        for row in zip(lane.fault.tolist(), lane.intensity.tolist(), strict=True)
    ]
    return np.array(named, np.str_)


def _short(values: NDArray[Any]) -> Any:
    """Numbers with four digits: nobody sees more in a picture."""
    if values.ndim > 1:
        return [_short(row) for row in values]
    return [float(f"{value:.4g}") for value in values.tolist()]


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _hash(text: str) -> str:
    """The only script and style the page may run: whatever slipped in would not."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
