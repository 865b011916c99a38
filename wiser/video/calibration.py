"""Thresholds of the gates: what clean frames are by M and by what is foretold, kept as the guard keeps its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from wiser.checks import at_least
from wiser.guard import Calibration, CalibrationError
from wiser.guard.calibration import FILE
from wiser.video.gate import Gating, Seen, denoised, frame_score
from wiser.video.predictor import Pixels, Predictor, unit
from wiser.video.witnesses import LEADS, foretelling

SCORE, DENOISED, FORETOLD = "next_frame", "next_frame/denoised", "foretold"
FORMAT = 2
"""Of what is measured: of what is foretold 1 had logarithms."""
RARE = 0.005
"""Share of clean frames that are unusual, to either side."""
SLACK = 1.1
"""Factor on what is usual, to either side: clean frames that were not measured lie a little further out."""
K = 3.0
"""Standard deviations, of the gates that ask M alone. The paper names none for its video model; five, its choice for
agents, lets faint glare pass."""


def calibrate(
    model: Predictor,
    clips: Iterable[Pixels],
    sigma: float = 0.3,
    frames: int = 8,
    seed: int = 0,
    report: Callable[[int], None] = lambda done: None,
) -> Calibration:
    """Measure M of clean frames, and of their D, on `frames` frames of each clip, evenly spaced; the last is one.

    Also how far later frames are from what is foretold of each, as the gate `witnesses` asks.
    """
    at_least(1, frames=frames)
    plain: list[float] = []
    mended: list[float] = []
    foretold: dict[str, list[float]] = {}
    for number, clip in enumerate(clips):
        chosen = np.unique(np.linspace(0, len(clip) - 1, min(frames, len(clip)) + 1).round().astype(int)[1:])
        for index in chosen.tolist():
            seen = Seen(unit(clip[index]), index)
            own = seed + number  # clips draw apart
            plain.append(frame_score(model, seen, own))
            mended.append(frame_score(model, denoised(model, seen, sigma, own), own))
            errors = foretelling(model, unit(clip[index : index + 1 + LEADS]), index, own)
            for lead, error in enumerate(errors.tolist()):
                foretold.setdefault(f"{FORETOLD}/{lead}", []).append(error)
        report(number + 1)
    scores = {SCORE: plain, DENOISED: mended, **foretold}
    found = {name: np.array(values) for name, values in scores.items()}
    return Calibration.of(found, weights=model.digest, seed=seed, **_conditions(model, sigma))


def thresholds(calibration: Calibration, model: Predictor, sigma: float, k: float = K) -> tuple[float, float]:
    """tau and tau_2; a calibration that was made with another model, or other settings of it, is an error."""
    check_fit(calibration, model, sigma)
    return calibration.tau(SCORE, k), calibration.tau(DENOISED, k)


def usual(calibration: Calibration) -> tuple[tuple[float, float], ...]:
    """What the gate `witnesses` asks: between which quantiles clean frames lie, by M and then by each lead measured."""
    names = takewhile(calibration.scores.__contains__, (f"{FORETOLD}/{lead}" for lead in range(1 + LEADS)))
    ends = [(calibration.quantile(name, RARE), calibration.quantile(name, 1.0 - RARE)) for name in names]
    return tuple((low / SLACK, high * SLACK) for low, high in ends)


def check_fit(calibration: Calibration, model: Predictor, sigma: float) -> None:
    """Raise where a calibration was made with another model, or other settings of it."""
    if calibration.weights != model.digest:
        raise CalibrationError("the calibration was made with other weights: calibrate again")
    differing = [
        f"{name} was {calibration.about.get(name)!r} and is {value!r}"
        for name, value in _conditions(model, sigma).items()
        if calibration.about.get(name) != value
    ]
    if differing:
        raise CalibrationError(f"the calibration does not fit: {'; '.join(differing)}. Calibrate again")


def gating(
    model: Predictor, calibration: Calibration, frames: int = 5, condition: int = 5, sigma: float = 0.3, k: float = K
) -> Gating:
    """Settings of a gate with calibrated thresholds."""
    tau, tau_denoised = thresholds(calibration, model, sigma, k)
    return Gating(tau, tau_denoised, frames, condition, sigma, usual=usual(calibration))


def find_calibration(named: Path | None, model: str) -> Calibration:
    """The one that was named, or the one beside the model's weights."""
    path = named or Path(model)
    file = path / FILE if path.is_dir() else path
    if file.is_file():
        return Calibration.load(file)
    raise CalibrationError(
        f"no calibration in {path}: name one with --calibration; `wiser video calibrate` makes one from clean clips"
    )


def _conditions(model: Predictor, sigma: float) -> dict[str, Any]:
    """What was measured, and what it depends on besides weights and frames."""
    return {"format": FORMAT, "sigma": sigma, **model.about}
