"""What is normal: statistics of scores on clean runs, and the thresholds that follow from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wiser.files import write_atomic

FILE = "calibration.json"
VERSION = 3
OLD_VERSIONS = (1, 2)  # 1 had first frames among the others; 2 is as 3, but had to have the levels of today
LEVELS = (0.0, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 1.0)


class CalibrationError(ValueError):
    """A calibration that cannot be read or lacks what was asked for."""


@dataclass(frozen=True)
class Stats:
    """Distribution of one score on clean input."""

    mean: float
    std: float
    count: int
    quantiles: tuple[float, ...]
    """At the levels of the calibration."""

    @classmethod
    def of(cls, values: np.ndarray[Any, Any]) -> Stats:
        """Summarise finite values; raises if there are none or some are not finite."""
        values = np.asarray(values, np.float64).ravel()
        if values.size == 0 or not np.isfinite(values).all():
            raise CalibrationError("scores of a clean run must be finite, and there must be some")
        quantiles = np.quantile(values, LEVELS)
        return cls(float(values.mean()), float(values.std()), int(values.size), tuple(quantiles.tolist()))


@dataclass(frozen=True)
class Calibration:
    """Clean statistics by score name. Names may be qualified, as in `isolated_surprise/camera`.

    The first frame of an episode surprises as no other does: nothing has led to it. It has statistics of its own.
    """

    scores: dict[str, Stats]
    """Of all frames but the first of each episode."""
    beginnings: dict[str, Stats] = field(default_factory=dict)
    """Of first frames."""
    about: dict[str, Any] = field(default_factory=dict)
    """How it was made: seed, steps, command."""
    weights: str | None = None
    """Digest of the weights it was made with."""
    levels: tuple[float, ...] = LEVELS
    """At which quantiles are known."""
    horizon: int | None = None
    """Steps that predictions hold for without any sensor; None if that was not measured."""

    @classmethod
    def of(
        cls,
        scores: Mapping[str, np.ndarray[Any, Any]],
        beginnings: Mapping[str, np.ndarray[Any, Any]] | None = None,
        weights: str | None = None,
        horizon: int | None = None,
        **about: Any,
    ) -> Calibration:
        """Summarise recorded scores, those of first frames apart; without these, all frames count as alike."""
        later = {name: Stats.of(scores[name]) for name in sorted(scores)}
        if beginnings is None:
            return cls(later, later, about, weights, horizon=horizon)
        first = {name: Stats.of(beginnings[name]) for name in sorted(beginnings)}
        return cls(later, first, about, weights, horizon=horizon)

    @property
    def digest(self) -> str:
        """Of the statistics: the same thresholds have the same digest."""
        statistics = [{name: asdict(part[name]) for name in sorted(part)} for part in (self.scores, self.beginnings)]
        return hashlib.sha256(json.dumps([self.levels, statistics]).encode()).hexdigest()

    def stats(self, score: str, begin: bool = False) -> Stats:
        """Statistics of one score, of first frames if `begin`; raises `CalibrationError` naming what there is."""
        part = self.beginnings if begin else self.scores
        if score not in part:
            raise CalibrationError(f"no calibration for score {score!r}; there is {', '.join(part) or 'none'}")
        return part[score]

    def tau(self, score: str, k: float = 5.0, begin: bool = False) -> float:
        """Threshold of the paper: mean + k standard deviations."""
        stats = self.stats(score, begin)
        return stats.mean + k * stats.std

    def quantile(self, score: str, level: float, begin: bool = False) -> float:
        """Threshold that clean input stays under with probability `level`, interpolated between stored levels."""
        if not 0.0 <= level <= 1.0:
            raise ValueError(f"a quantile level lies in [0, 1], got {level}")
        if not self.levels[0] <= level <= self.levels[-1]:
            raise CalibrationError(f"quantiles are known from {self.levels[0]} to {self.levels[-1]}, not at {level}")
        return float(np.interp(level, self.levels, self.stats(score, begin).quantiles))

    def save(self, path: str | Path) -> None:
        """Write JSON; `path` is a file or a model folder."""
        path = _file(path)
        body = {"version": VERSION, **asdict(self)}
        write_atomic(path, (json.dumps(body, indent=2) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> Calibration:
        """Read what `save` wrote; anything else is a `CalibrationError`."""
        path = _file(path)
        try:
            body = json.loads(path.read_text())
            if body["version"] not in (*OLD_VERSIONS, VERSION):
                raise ValueError(f"version {body['version']!r}, this release reads up to {VERSION}: calibrate again")
            levels = _read_levels(body["levels"])
            scores = _read_stats(body["scores"], levels)
            beginnings = scores if body["version"] == 1 else _read_stats(body["beginnings"], levels)
            horizon = body.get("horizon")  # files before it was measured have none
            return cls(scores, beginnings, dict(body["about"]), body["weights"], levels, horizon and int(horizon))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CalibrationError(f"{path} is not a readable calibration: {error}") from error


def _read_levels(given: list[Any]) -> tuple[float, ...]:
    levels = tuple(map(float, given))
    if not levels or levels[0] < 0.0 or levels[-1] > 1.0 or any(low >= high for low, high in pairwise(levels)):
        raise ValueError("levels of quantiles rise within [0, 1]")
    return levels


def _read_stats(part: dict[str, Any], levels: tuple[float, ...]) -> dict[str, Stats]:
    read = {
        name: Stats(float(s["mean"]), float(s["std"]), int(s["count"]), tuple(map(float, s["quantiles"])))
        for name, s in part.items()
    }
    if any(len(stats.quantiles) != len(levels) for stats in read.values()):
        raise ValueError("a score has the wrong number of quantiles")
    return read


def beside(folder: Path | None, digest: str | None) -> Calibration | None:
    """Return the calibration beside a model's weights, if there is one; it must have been made with these weights."""
    if folder is None or not (folder / FILE).exists():
        return None
    calibration = Calibration.load(folder)
    if calibration.weights is not None and calibration.weights != digest:
        raise CalibrationError(f"{folder / FILE} was made with other weights than those beside it: calibrate again")
    return calibration


def _file(path: str | Path) -> Path:
    path = Path(path)
    return path / FILE if path.is_dir() else path
