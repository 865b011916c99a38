"""What the page is told of an episode and of each step: the objects that wiser/record/page/lane.js reads, as data.

Pictures are left out: they travel in the `Sheet`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.cockpit.session import Session
from wiser.cockpit.sheet import Sheet
from wiser.guard import Level
from wiser.record.step import Step
from wiser.record.web import BARS
from wiser.worldmodel.protocol import Sensor


def about_episode(session: Session, sheet: Sheet, first: Sequence[Step]) -> dict[str, Any]:
    """What holds for a whole episode."""
    recorder = session.recorder
    lanes = zip(session.lanes, session.choice.treatments, session.resolved, sheet.lanes, strict=True)
    scores = {name for step in first for name, values in step.verdict.scores.items() if np.ndim(values) == 1}
    return {
        "kind": "episode",
        "choice": asdict(session.choice),
        "measure": recorder.about.measure,
        "stepsPerSecond": recorder.about.steps_per_second,
        "sensors": [{**_form(sensor), "faults": session.faults_of(sensor.name)} for sensor in session.agent.sensors],
        "lanes": [
            {"name": name, "method": chosen, "meaning": method, "places": places}
            for name, chosen, method, places in lanes
        ],
        "scores": sorted(scores),
        "bands": recorder.bands,
    }


def about_step(
    step: Step,
    sensors: Sequence[Sensor],
    stale: dict[str, int],
    outcome: str,
    measures: Mapping[str, float],
    steps_per_second: float,
) -> dict[str, Any]:
    """One lane at one step."""
    verdict = step.verdict
    late = _short(np.asarray(verdict.delay) / steps_per_second)
    return {
        "sensors": [
            {**_about_sensor(step, sensor, k), "late": late[k], "stale": stale.get(sensor.name, 0)}
            for k, sensor in enumerate(sensors)
        ],
        "mode": verdict.mode.name.lower(),
        "blind": int(verdict.blind_steps),
        "reset": bool(verdict.reset),
        "surprise": _short(verdict.surprise),
        "scores": {name: _short(values) for name, values in verdict.scores.items()},
        "measure": _short(step.measure),
        "measures": {name: _short(value) for name, value in measures.items()},
        "outcome": outcome,
    }


def _about_sensor(step: Step, sensor: Sensor, column: int) -> dict[str, Any]:
    verdict, name = step.verdict, sensor.name
    reading, prediction = step.readings[name], step.predictions.get(name)
    state = "trusted" if verdict.trusted[column] else "masked" if verdict.healthy[column] else "unhealthy"
    facts: dict[str, Any] = {
        "state": state,
        "level": Level(int(verdict.level[column])).name,
        "reason": verdict.reasons.get(name, ""),
        "fault": spoken_fault(*step.broken[name]) if name in step.broken else "",
        "present": reading is not None,
    }
    if not sensor.is_image:
        facts |= {"reading": _numbers(reading), "prediction": _numbers(prediction)}
    return facts


def spoken_fault(fault: str, intensity: float) -> str:
    """The fault, and how severe it is if that is not plain severe."""
    return fault if intensity == 1 else f"{fault} {intensity:.2g}"


def _form(sensor: Sensor) -> dict[str, Any]:
    height, width = sensor.shape[:2] if sensor.is_image else (BARS, BARS)
    known = math.isfinite(sensor.high - sensor.low)
    low, high = (sensor.low, sensor.high) if known else (-1.0, 1.0)
    return {"name": sensor.name, "width": width, "height": height, "low": low, "high": high}


def _numbers(values: NDArray[Any] | None) -> Any:
    return None if values is None else _short(values)


def _short(value: Any) -> Any:
    """Numbers with four digits, None where they are not finite."""
    if np.ndim(value):
        return [_short(part) for part in value]
    return float(f"{float(value):.4g}") if math.isfinite(value) else None
