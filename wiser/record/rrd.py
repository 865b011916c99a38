"""A recording for the Rerun viewer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wiser.extras import install_hint
from wiser.files import replacing
from wiser.guard import Mode
from wiser.record.recording import Lane, Recording
from wiser.record.sheets import displayable


def to_rrd(recording: Recording, path: str | Path) -> Path:
    """Write a .rrd file for `rerun FILE`: images, trust, scores and reasons of every lane on the time line `step`."""
    rerun = find_rerun()
    with replacing(path) as temporary:
        stream = rerun.RecordingStream("wiser")
        stream.save(temporary)
        stream.log("about", rerun.TextDocument(_about(recording)), static=True)
        for lane in recording.lanes:
            for step in range(len(lane)):
                stream.set_time("step", sequence=step)
                _log_step(rerun, stream, recording, lane, step)
        stream.disconnect()
    return Path(path)


def find_rerun() -> Any:
    """The SDK; without it a RuntimeError says how to get it."""
    try:
        import rerun
    except ImportError as error:
        raise RuntimeError(f"Rerun recordings need the Rerun SDK: {install_hint('rerun')}") from error
    return rerun


def _log_step(rerun: Any, stream: Any, recording: Recording, lane: Lane, step: int) -> None:
    def log(value: Any, *where: str) -> None:
        stream.log([lane.name, *where], value)

    numbers = {"surprise": lane.surprise[step], recording.about.measure: lane.measure[step]}
    for name, number in numbers.items():
        if np.isfinite(number):
            log(rerun.Scalars(float(number)), name)
    if lane.view is not None:
        log(rerun.Image(lane.view[step]).compress(), "view")
    for column, sensor in enumerate(recording.sensors):
        for kind, frames in (("reading", lane.readings), ("prediction", lane.predictions)):
            if sensor.name not in frames:
                continue
            frame = frames[sensor.name][step]
            shown = rerun.Image(displayable(frame)).compress() if sensor.is_image else rerun.BarChart(frame)
            log(shown, kind, sensor.name)
        log(rerun.Scalars(float(lane.trusted[step, column])), "trusted", sensor.name)
        log(rerun.Scalars(float(lane.intensity[step, column])), "broken", sensor.name)
        for name, values in lane.scores.items():
            if values.ndim == 2 and np.isfinite(values[step, column]):
                log(rerun.Scalars(float(values[step, column])), name, sensor.name)
    log(rerun.TextLog(_verdict(recording, lane, step)), "verdict")


def _verdict(recording: Recording, lane: Lane, step: int) -> str:
    names = [sensor.name for sensor in recording.sensors]
    reasons = [f"{name}: {why}" for name, why in zip(names, lane.reason[step].tolist(), strict=True) if why]
    outcome = [lane.outcome] if lane.outcome and step == len(lane) - 1 else []
    return "; ".join([Mode(int(lane.mode[step])).name.lower(), *reasons, *outcome])


def _about(recording: Recording) -> str:
    return "\n".join(f"{name}: {value}" for name, value in vars(recording.about).items() if value)
