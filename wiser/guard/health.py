"""Layer 1, health: deterministic checks before any network runs. An unhealthy sensor is masked, with a reason."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from wiser.worldmodel.protocol import Sensor

MISSHAPEN = "shape "  # how the reason of a reading of the wrong shape begins
_RANGE_SLACK = 1e-3  # share of the range a float reading may overshoot: resampling does that to honest sensors


@dataclass(frozen=True)
class Health:
    """Which checks run. Presence, shape, type and finiteness are always checked: the model could not digest them."""

    range: bool = True
    """Readings must lie within the sensor's declared range."""
    frozen_after: int | Mapping[str, int] | None = None
    """Steps of bit-identical readings after which a stream counts as frozen: for all sensors, or for those named. None
    where still scenes are normal."""
    max_age: float | None = None
    """Oldest acceptable age of a reading, in the unit of the ages given to `Guard.act`."""


class Readings(NamedTuple):
    """An observation made safe: readings that failed a check are zero, which is the mask value."""

    obs: dict[str, Tensor]  # each (B, *shape)
    healthy: Tensor  # (B, N) bool
    reasons: list[dict[str, str]]  # per row: sensor -> why it is masked
    stale: Tensor  # (B, N) bool: those that are unhealthy for nothing but their age


def warn_if_misshapen(readings: Readings, rows: int | None) -> None:
    """Say aloud that every sensor of an observation has a wrong shape. It is a mistake of the caller, not of sensors.

    rows: for which the readings are meant; None is one unbatched environment.
    """
    named = [(name, reason) for row in readings.reasons for name, reason in row.items()]
    if bool(readings.healthy.any()) or not all(reason.startswith(MISSHAPEN) for _, reason in named):
        return
    name, reason = named[0]
    meant = (
        "one environment, unbatched (Guard(..., rows=N) takes batches)" if rows is None else f"batches of {rows} rows"
    )
    warnings.warn(
        f"all sensors are masked and the guard drives blind, for none has the shape it expects: {name} has {reason}. "
        f"This guard is for {meant}.",
        stacklevel=4,
    )


class HealthMonitor:
    """Runs the checks for a fixed number of rows and remembers what the frozen check needs. Never raises."""

    def __init__(self, sensors: tuple[Sensor, ...], rows: int, checks: Health, device: torch.device) -> None:
        self.sensors, self.rows, self.checks, self.device = sensors, rows, checks, device
        frozen = checks.frozen_after
        names = [sensor.name for sensor in sensors]
        if isinstance(frozen, Mapping) and (unknown := set(frozen) - set(names)):
            raise ValueError(f"frozen_after names unknown sensors {sorted(unknown)}; the model has {names}")
        self.patience = dict(frozen) if isinstance(frozen, Mapping) else dict.fromkeys(names, frozen)
        self.repeats = torch.zeros(rows, len(sensors), dtype=torch.long, device=device)
        self.previous: dict[str, Tensor] = {}

    def examine(self, obs: Any, first: Tensor, ages: Mapping[str, Any] | None = None) -> Readings:
        """Check every sensor of every row. `obs` is a mapping of stacked readings, or one mapping per row."""
        readings: dict[str, Tensor] = {}
        healthy = torch.ones(self.rows, len(self.sensors), dtype=torch.bool, device=self.device)
        stale = torch.zeros_like(healthy)
        reasons: list[dict[str, str]] = [{} for _ in range(self.rows)]
        for column, sensor in enumerate(self.sensors):
            x, faults = self._read(sensor, obs)
            self._check_values(sensor, x, faults)
            unusable = set(faults)
            self._check_age(sensor, ages, faults)
            self._check_frozen(column, sensor, x, first, faults)
            if faults:
                failed = list(faults)
                x = x.clone()
                x[failed] = 0
                healthy[failed, column] = False
                stale[[row for row in failed if row not in unusable], column] = True
                for row, reason in faults.items():
                    reasons[row][sensor.name] = reason
            readings[sensor.name] = x
        return Readings(readings, healthy, reasons, stale)

    def _read(self, sensor: Sensor, obs: Any) -> tuple[Tensor, dict[int, str]]:
        """Fetch one sensor for all rows: (B, *shape) in its own dtype, and the rows where that failed."""
        whole = _get(obs, sensor.name)
        if isinstance(whole, (np.ndarray, Tensor)) and not isinstance(whole, np.ma.MaskedArray):
            x, problem = _convert(whole, (self.rows, *sensor.shape), sensor, self.device)
            if x is not None:
                return x, {}
            if tuple(whole.shape) != (self.rows, *sensor.shape):
                return self._zeros(sensor), dict.fromkeys(range(self.rows), problem)
        stack, faults = self._zeros(sensor), {}  # row by row: one row's reading must not blind another
        for row, value in enumerate(_per_row(obs, sensor.name, self.rows)):
            x, problem = _convert(value, sensor.shape, sensor, self.device)
            if x is None:
                faults[row] = problem
            else:
                stack[row] = x
        return stack, faults

    def _zeros(self, sensor: Sensor) -> Tensor:
        dtype = torch.uint8 if sensor.dtype == "uint8" else torch.float32
        return torch.zeros((self.rows, *sensor.shape), dtype=dtype, device=self.device)

    def _check_values(self, sensor: Sensor, x: Tensor, faults: dict[int, str]) -> None:
        if not x.is_floating_point() or x.numel() == 0:
            return
        flat = x.reshape(self.rows, -1)  # (B, n)
        finite = torch.isfinite(flat).all(1)
        _flag(faults, ~finite, "not finite")
        if self.checks.range and (math.isfinite(sensor.low) or math.isfinite(sensor.high)):
            slack = _RANGE_SLACK * (sensor.high - sensor.low) if math.isfinite(sensor.high - sensor.low) else 0.0
            outside = (flat.amin(1) < sensor.low - slack) | (flat.amax(1) > sensor.high + slack)
            _flag(faults, outside & finite, f"outside its range {sensor.low:g}..{sensor.high:g}")

    def _check_age(self, sensor: Sensor, ages: Mapping[str, Any] | None, faults: dict[int, str]) -> None:
        if self.checks.max_age is None or not isinstance(ages, Mapping) or sensor.name not in ages:
            return
        age, problem = _convert(ages[sensor.name], None, None, self.device)
        if age is None or age.numel() not in (1, self.rows):
            _flag(faults, torch.ones(self.rows, dtype=torch.bool), f"age unreadable: {problem or 'wrong shape'}")
            return
        age = age.flatten().expand(self.rows)
        _flag(faults, ~(age <= self.checks.max_age), f"older than {self.checks.max_age:g}")

    def _check_frozen(self, column: int, sensor: Sensor, x: Tensor, first: Tensor, faults: dict[int, str]) -> None:
        patience = self.patience.get(sensor.name)
        if patience is None:
            return
        before = self.previous.get(sensor.name)
        if before is not None and x.numel():
            same = (x == before).reshape(self.rows, -1).all(1) & ~first  # (B,)
            self.repeats[:, column] = torch.where(same, self.repeats[:, column] + 1, 0)
        self.previous[sensor.name] = x.clone()  # the environment may reuse its buffer
        _flag(faults, self.repeats[:, column] >= patience, f"frozen for {patience} steps")


def _flag(faults: dict[int, str], rows: Tensor, reason: str) -> None:
    if rows.any():
        for row in rows.nonzero().flatten().tolist():
            faults.setdefault(row, reason)


def _get(obs: Any, name: str) -> Any:
    try:
        return obs.get(name) if isinstance(obs, Mapping) else None
    except Exception:  # a hostile mapping: as good as missing
        return None


def _per_row(obs: Any, name: str, rows: int) -> list[Any]:
    """One value per row, None where it is missing. Understands mappings of sequences and of masked arrays."""
    missing: list[Any] = [None] * rows
    try:
        if isinstance(obs, Mapping):
            stacked = _get(obs, name)
            values = [stacked[row] for row in range(rows)] if stacked is not None else missing
        elif isinstance(obs, Sequence) and len(obs) == rows:
            values = [_get(part, name) for part in obs]
        else:
            values = missing
    except Exception:  # a hostile container: nothing of it can be used
        return missing
    return values


def _convert(
    value: Any, shape: tuple[int, ...] | None, sensor: Sensor | None, device: torch.device
) -> tuple[Tensor | None, str]:
    """Turn anything into a tensor of the sensor's shape and dtype, or say why not."""
    if value is None:
        return None, "missing"
    try:
        if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
            return None, "missing"
        x = value.detach() if isinstance(value, Tensor) else torch.from_numpy(_plain(value))
        if shape is not None and tuple(x.shape) != shape:
            return None, f"{MISSHAPEN}{tuple(x.shape)} instead of {shape}"
        if x.layout != torch.strided or x.is_complex():
            return None, f"{x.layout if x.layout != torch.strided else x.dtype} instead of plain numbers"
        if sensor is None or sensor.dtype != "uint8":
            return x.to(device, torch.float32), ""
        if x.dtype == torch.uint8:
            return x.to(device), ""
        wide = x.to(device, torch.float32)
        if x.is_floating_point() or x.dtype == torch.bool or wide.amin() < 0 or wide.amax() > 255:
            return None, f"{str(x.dtype).removeprefix('torch.')} values instead of uint8"
        return wide.to(torch.uint8), ""
    except Exception as error:  # whatever a foreign object raises: the guard masks and says why
        return None, f"unreadable: {type(error).__name__}"


def _plain(value: Any) -> np.ndarray[Any, Any]:
    """Array that torch can share: contiguous, writable, of a plain dtype."""
    array = np.asarray(value)
    if not (array.flags.c_contiguous and array.flags.writeable and array.dtype.isnative):
        array = array.astype(array.dtype.newbyteorder("="), order="C")
    return array
