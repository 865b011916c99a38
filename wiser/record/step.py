"""One step of one lane, taken from what the environment and the guard hand out: numpy or torch, one row or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.guard import Verdict
from wiser.record.recording import stored_shape
from wiser.worldmodel.protocol import Sensor

VIEW_WIDTH = 400  # of the picture for people: three lanes fit on a screen, and a recording stays a few megabytes

Broken = Mapping[str, tuple[str, float]]
"""{sensor: (fault, intensity)} of those that are really broken."""


@dataclass(frozen=True, eq=False)
class Step:
    """Copies of everything: environments may reuse their buffers."""

    readings: dict[str, NDArray[Any] | None]
    predictions: dict[str, NDArray[Any]]
    view: NDArray[np.uint8] | None
    verdict: Verdict
    broken: dict[str, tuple[str, float]]
    reward: float
    measure: float


def take_readings(sensors: Sequence[Sensor], obs: Any, row: int | None) -> dict[str, NDArray[Any] | None]:
    """Every sensor's reading as it is stored, None where it is missing or malformed."""
    if row is not None and isinstance(obs, Sequence):  # one mapping per row
        obs, row = obs[row], None
    seen = obs if isinstance(obs, Mapping) else {}
    return {sensor.name: _stored(seen.get(sensor.name), sensor, row) for sensor in sensors}


def take_predictions(
    sensors: Sequence[Sensor], prediction: Mapping[str, Any] | None, row: int | None
) -> dict[str, NDArray[Any]]:
    """What the model believes the sensors show, `model.decode(guard.belief)`."""
    stored = {s.name: _stored(prediction[s.name], s, row) for s in sensors if prediction and s.name in prediction}
    malformed = [name for name, value in stored.items() if value is None]
    if malformed:
        raise ValueError(f"the predictions of {', '.join(malformed)} have not the shape of their sensors")
    return {name: value for name, value in stored.items() if value is not None}


def take_verdict(verdict: Verdict, row: int | None) -> Verdict:
    """The verdict on one environment."""
    one = verdict if row is None else verdict.row(row)
    if np.ndim(_numpy(one.trusted)) != 1:
        raise ValueError("this verdict is about several environments: say which with row=...")
    return one


def take_view(view: Any) -> NDArray[np.uint8] | None:
    """A picture (H, W, 3) uint8, made smaller if it is large."""
    if view is None:
        return None
    view = np.asarray(view)
    if view.dtype != np.uint8 or view.ndim != 3 or view.shape[2] != 3:
        raise ValueError(f"a view is (H, W, 3) of uint8, got {view.shape} of {view.dtype}")
    height, width = view.shape[:2]
    if width <= VIEW_WIDTH:
        return view.copy()
    size = (VIEW_WIDTH, round(height * VIEW_WIDTH / width))
    return np.asarray(cv2.resize(view, size, interpolation=cv2.INTER_AREA), np.uint8)


def column(values: Any) -> NDArray[np.float32]:
    """A number, or one per sensor, as floats."""
    return np.array(_numpy(values), np.float32)


def flags(values: Any) -> NDArray[np.bool_]:
    """One truth value per sensor."""
    return np.array(_numpy(values), np.bool_)


def numbers(values: Any) -> NDArray[np.int32]:
    """One whole number per sensor."""
    return np.array(_numpy(values), np.int32)


def _stored(value: Any, sensor: Sensor, row: int | None) -> NDArray[Any] | None:
    if value is None:
        return None
    try:
        value = _numpy(value) if row is None else _numpy(value)[row]
    except (ValueError, IndexError, TypeError):  # nothing like an array: the guard has masked it, with a reason
        return None
    if row is None and value.shape == (1, *sensor.shape):  # a guard of one environment believes in batches of one
        value = value[0]
    if np.ma.is_masked(value) or value.shape != sensor.shape or value.dtype.kind not in "buif":
        return None
    if not sensor.is_image:
        return np.array(value, np.float32).reshape(stored_shape(sensor))
    if value.dtype == np.uint8:
        return np.array(value)
    return (np.clip(np.nan_to_num(value), 0, 1) * 255 + 0.5).astype(np.uint8)


def _numpy(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else np.asanyarray(value)
