"""What is normal: statistics of scores on clean runs, and the thresholds that follow from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

FILE = "calibration.json"
VERSION = 1
LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 1.0)


class CalibrationError(ValueError):
    """A calibration that cannot be read or lacks what was asked for."""


@dataclass(frozen=True)
class Stats:
    """Distribution of one score on clean input."""

    mean: float
    std: float
    count: int
    quantiles: tuple[float, ...]
    """At `LEVELS`."""

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
    """Clean statistics by score name. Names may be qualified, as in `isolated_surprise/camera`."""

    scores: dict[str, Stats]
    about: dict[str, Any] = field(default_factory=dict)
    """How it was made: seed, steps, command."""
    weights: str | None = None
    """Digest of the weights it was made with."""

    @classmethod
    def of(cls, scores: Mapping[str, np.ndarray[Any, Any]], weights: str | None = None, **about: Any) -> Calibration:
        """Summarise recorded scores."""
        return cls({name: Stats.of(values) for name, values in sorted(scores.items())}, about, weights)

    def stats(self, score: str) -> Stats:
        """Statistics of one score; raises `CalibrationError` naming what there is."""
        if score not in self.scores:
            raise CalibrationError(f"no calibration for score {score!r}; there is {', '.join(self.scores) or 'none'}")
        return self.scores[score]

    def tau(self, score: str, k: float = 5.0) -> float:
        """Threshold of the paper: mean + k standard deviations."""
        stats = self.stats(score)
        return stats.mean + k * stats.std

    def quantile(self, score: str, level: float) -> float:
        """Threshold that clean input stays under with probability `level`, interpolated between stored levels."""
        if not 0.0 <= level <= 1.0:
            raise ValueError(f"a quantile level lies in [0, 1], got {level}")
        return float(np.interp(level, LEVELS, self.stats(score).quantiles))

    def save(self, path: str | Path) -> None:
        """Write JSON; `path` is a file or a model folder."""
        path = _file(path)
        body = {"version": VERSION, "levels": LEVELS, **asdict(self)}
        temporary = path.with_name(f".{path.name}.tmp")
        temporary.write_text(json.dumps(body, indent=2) + "\n")
        temporary.replace(path)

    @classmethod
    def load(cls, path: str | Path) -> Calibration:
        """Read what `save` wrote; anything else is a `CalibrationError`."""
        path = _file(path)
        try:
            body = json.loads(path.read_text())
            if body["version"] != VERSION or tuple(body["levels"]) != LEVELS:
                raise ValueError(f"version {body['version']!r}, this release reads {VERSION}")
            scores = {
                name: Stats(float(s["mean"]), float(s["std"]), int(s["count"]), tuple(map(float, s["quantiles"])))
                for name, s in body["scores"].items()
            }
            if any(len(stats.quantiles) != len(LEVELS) for stats in scores.values()):
                raise ValueError("a score has the wrong number of quantiles")
            return cls(scores, dict(body["about"]), body["weights"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CalibrationError(f"{path} is not a readable calibration: {error}") from error


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
