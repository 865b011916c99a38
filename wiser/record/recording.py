"""A recorded run: lanes that lived through the same episode under different treatment, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.guard import Level, Mode
from wiser.record import container
from wiser.worldmodel.protocol import Sensor

COLUMNS: dict[str, tuple[str, int]] = {  # what every lane has: kind of the values, number of axes
    "present": ("b", 2),
    "trusted": ("b", 2),
    "healthy": ("b", 2),
    "level": ("i", 2),
    "delay": ("i", 2),
    "reason": ("U", 2),
    "fault": ("U", 2),
    "intensity": ("f", 2),
    "mode": ("i", 1),
    "surprise": ("f", 1),
    "blind_steps": ("i", 1),
    "reset": ("b", 1),
    "reward": ("f", 1),
    "measure": ("f", 1),
}


class RecordingError(ValueError):
    """A file that is not a whole recording; the message says what is wrong with it."""


@dataclass(frozen=True)
class About:
    """What a recording shows and how it was made."""

    title: str
    task: str = ""
    agent: str = ""
    seeds: tuple[int, ...] = ()
    command: str = ""
    measure: str = "score"
    """Name of the number that runs along: the sum of rewards unless `Recorder.add` is told another."""
    steps_per_second: float = 10.0
    """Speed of the world, and of the replay."""


@dataclass(frozen=True, eq=False)
class Lane:
    """One treatment of the episode. T steps, N sensors; text is empty where there is nothing to say."""

    name: str
    method: str
    outcome: str
    """How the episode ended; empty if it was still running."""
    readings: dict[str, NDArray[Any]]
    """{sensor: (T, H, W, C) uint8 or (T, n) float32} as the agent saw them; zero where not `present`."""
    predictions: dict[str, NDArray[Any]]
    """The same as the model believes them to be; only sensors it decodes, empty if not recorded."""
    view: NDArray[np.uint8] | None
    """(T, H, W, 3): a picture of the world for people, if recorded."""
    present: NDArray[np.bool_]
    """(T, N): whether there was a reading of the right form."""
    trusted: NDArray[np.bool_]
    """(T, N): the guard's verdict."""
    healthy: NDArray[np.bool_]
    """(T, N): whether it passed the health checks."""
    level: NDArray[np.int8]
    """(T, N) values of `wiser.guard.Level`: the guard's diagnosis."""
    delay: NDArray[np.int32]
    """(T, N): steps by which the guard found a sensor to be late; 0 where it did not."""
    reason: NDArray[np.str_]
    """(T, N): what is wrong with a sensor, by the guard."""
    fault: NDArray[np.str_]
    """(T, N): the truth: the fault that breaks it."""
    intensity: NDArray[np.float32]
    """(T, N): of that fault; 0 is clean."""
    mode: NDArray[np.int8]
    """(T,) values of `wiser.guard.Mode`."""
    surprise: NDArray[np.float32]
    """(T,) nats; NaN where nothing was judged."""
    blind_steps: NDArray[np.int32]
    """(T,) since a sensor was last trusted."""
    reset: NDArray[np.bool_]
    """(T,) whether the context was reset."""
    reward: NDArray[np.float32]
    """(T,) what the action taken at this step earned."""
    measure: NDArray[np.float32]
    """(T,) the running score, or what `About.measure` names."""
    scores: dict[str, NDArray[np.float32]]
    """{name: (T,) or (T, N)}: what else the guard measured; NaN where it did not."""

    def __len__(self) -> int:
        return len(self.mode)


@dataclass(frozen=True, eq=False)
class Recording:
    """Lanes and what they share. Make one with a `Recorder`; share it with `export`."""

    about: About
    sensors: tuple[Sensor, ...]
    """They fix the columns of every (T, N)."""
    lanes: tuple[Lane, ...]
    bands: dict[str, tuple[float, float]] = field(default_factory=dict)
    """What clean input stays within, by score: `surprise`, `isolated_surprise/camera`."""

    @property
    def steps(self) -> int:
        """Length of the longest lane."""
        return max(len(lane) for lane in self.lanes)

    def lane(self, name: str) -> Lane:
        """Find a lane by name."""
        for lane in self.lanes:
            if lane.name == name:
                return lane
        raise KeyError(f"no lane {name!r}; there are {', '.join(repr(lane.name) for lane in self.lanes)}")

    def save(self, path: str | Path) -> Path:
        """Write one file, a zip of JSON and .npy that `numpy.load` can open too. `path` is replaced at once or not."""
        return container.write(path, *_dismantle(self))

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Read what `save` wrote; raises `RecordingError` on anything else. Nothing in the file is executed."""
        try:
            header, arrays = container.read(path)
            recording = _assemble(header, arrays)
            _check(recording)
        except container.BROKEN as error:
            raise RecordingError(f"{path} is not a readable recording: {error}") from error
        return recording


def _dismantle(recording: Recording) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    header = {
        "about": vars(recording.about),
        "sensors": [vars(sensor) for sensor in recording.sensors],
        "lanes": [{"name": lane.name, "method": lane.method, "outcome": lane.outcome} for lane in recording.lanes],
        "bands": recording.bands,
    }
    arrays: dict[str, NDArray[Any]] = {}
    for index, lane in enumerate(recording.lanes):
        parts = {name: getattr(lane, name) for name in COLUMNS}
        for kind in ("readings", "predictions", "scores"):
            parts |= {f"{kind}/{name}": array for name, array in getattr(lane, kind).items()}
        if lane.view is not None:
            parts["view"] = lane.view
        arrays |= {f"{index}/{name}": array for name, array in parts.items()}
    return header, arrays


def _assemble(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Recording:
    about = {**header["about"], "seeds": tuple(header["about"]["seeds"])}
    sensors = tuple(Sensor(**{**fields, "shape": tuple(fields["shape"])}) for fields in header["sensors"])
    lanes = []
    for index, fields in enumerate(header["lanes"]):
        own = _group(arrays, f"{index}/")
        parts: dict[str, Any] = {kind: _group(own, f"{kind}/") for kind in ("readings", "predictions", "scores")}
        parts |= {name: own[name] for name in COLUMNS}
        lanes.append(Lane(**fields, **parts, view=own.get("view")))
    bands = {name: (float(low), float(high)) for name, (low, high) in header["bands"].items()}
    return Recording(About(**about), sensors, tuple(lanes), bands)


def _group(arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _check(recording: Recording) -> None:
    """Whether every array has the form that is promised, so that whoever draws it need not ask."""
    _require(recording.lanes, "it has no lanes")
    sensors = {sensor.name: sensor for sensor in recording.sensors}
    for lane in recording.lanes:
        where, shape = f"in lane {lane.name!r}", (len(lane), len(sensors))
        _require(len(lane) and all(isinstance(text, str) for text in (lane.name, lane.method, lane.outcome)), where)
        for name, (kind, axes) in COLUMNS.items():
            array = getattr(lane, name)
            _require(array.shape == shape[:axes] and array.dtype.kind == kind, f"column {name} {where}")
        _require(set(lane.mode.tolist()) <= set(Mode), f"unknown modes {where}")
        _require(set(lane.level.ravel().tolist()) <= set(Level), f"unknown levels {where}")
        for name, array in lane.scores.items():
            _require(array.shape in (shape, shape[:1]) and array.dtype.kind == "f", f"score {name} {where}")
        _require(lane.readings.keys() == sensors.keys() >= lane.predictions.keys(), f"other sensors {where}")
        for name, array in (*lane.readings.items(), *lane.predictions.items()):
            expected = (len(lane), *stored_shape(sensors[name])), stored_dtype(sensors[name])
            _require((array.shape, array.dtype) == expected, f"frames of {name!r} {where}")
        if lane.view is not None:
            form = lane.view.ndim, len(lane.view), lane.view.shape[-1], lane.view.dtype
            _require(form == (4, len(lane), 3, np.uint8), f"view {where}")


def _require(condition: Any, problem: str) -> None:
    if not condition:
        raise ValueError(f"damaged: {problem}")


def stored_shape(sensor: Sensor) -> tuple[int, ...]:
    """Shape of one stored reading: pictures as they are, numbers as a vector."""
    return sensor.shape if sensor.is_image else (sensor.size,)


def stored_dtype(sensor: Sensor) -> np.dtype[Any]:
    """Pictures are stored as bytes, numbers as floats."""
    return np.dtype(np.uint8 if sensor.is_image else np.float32)
