"""What the gate says of a frame, in the guard's own terms: logs, recordings and replay pages know them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from wiser.guard import Level, Mode, Verdict
from wiser.guard.gate import Passage

SENSOR = "camera"


def verdict_on(
    passage: Passage[Any], tau: float, tau_denoised: float, blind: int, stands: bool, name: str = "M"
) -> Verdict:
    """Of one frame. `blind`: frames since one was accepted; `stands`: whether something could take its place."""
    accepted, mended = bool(passage.accepted), bool(passage.denoised)
    mode = Mode.DENOISED if mended else Mode.GROUNDED if accepted else Mode.PREDICTIVE
    scores = {name: float(passage.scores[name]) for name in ("score", "denoised")}
    reason = why(scores, tau, tau_denoised, mode, stands, name)
    return _verdict(mode, accepted, reason, scores, blind, bool(passage.reset))


def least_bad(verdict: Verdict) -> Verdict:
    """Where no frame was accepted, that of the one which is gone on from all the same."""
    reasons = {name: f"{reason}; none was accepted, this is the least bad" for name, reason in verdict.reasons.items()}
    return replace(verdict, mode=Mode.FALLBACK, reasons=reasons)


def believed() -> Verdict:
    """Of a frame that nobody judged."""
    return _verdict(Mode.GROUNDED, True, "", {}, 0, False)


def imagined(blind: int) -> Verdict:
    """Of a moment that no frame was there for: the model generated it."""
    return _verdict(Mode.PREDICTIVE, False, "generated", {}, blind, False)


def why(scores: dict[str, float], tau: float, tau_denoised: float, mode: Mode, stands: bool, name: str = "M") -> str:
    """What is wrong with a frame by a score of this name; nothing if it was accepted as it is."""
    if mode == Mode.GROUNDED:
        return ""
    said = f"{name} {scores['score']:.2g} not below {tau:.2g}"
    if mode == Mode.DENOISED:
        return f"{said}; denoised {scores['denoised']:.2g} is below {tau_denoised:.2g}"
    if math.isfinite(scores["denoised"]):
        said += f", denoised {scores['denoised']:.2g} not below {tau_denoised:.2g}"
    return said if stands else f"{said}; nothing to predict from yet"


def _verdict(mode: Mode, trusted: bool, reason: str, scores: dict[str, float], blind: int, reset: bool) -> Verdict:
    return Verdict(
        sensors=(SENSOR,),
        mode=mode,
        trusted=np.array([trusted]),
        healthy=np.array([True]),
        level=np.array([Level.WARN if reason else Level.OK]),
        delay=np.array([0]),
        reasons={SENSOR: reason} if reason else {},
        surprise=math.nan,
        scores=scores,
        blind_steps=blind,
        reset=reset,
    )
