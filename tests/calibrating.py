"""Calibrate from a stream of readings instead of an environment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from wiser.guard import Calibration, Calibrator


def calibrate(
    model: Any,
    step: Callable[[Any], tuple[Any, Any]],
    rows: int,
    steps: int,
    beginnings: int = 256,
    *,
    scores: Sequence[str] | None = None,
    judges: Sequence[Any] = (),
    **about: Any,
) -> Calibration:
    """`step` takes the actions chosen, or None to begin other episodes; returns readings and which rows begin."""
    calibrator, actions = Calibrator(model, rows, scores, judges), None
    for count in range(steps + math.ceil(beginnings / rows)):
        obs, first = step(actions)
        chosen, _ = calibrator.guard.act(obs, first)
        calibrator.take()
        actions = None if (count + 1) * rows < beginnings else chosen
    return calibrator.calibration(**about, steps=steps)
