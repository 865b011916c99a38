"""What the commands write of one clip: videos, a contact sheet, a replay page, and what their note says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.guard import Verdict
from wiser.record import About, to_html
from wiser.video.batch import beside
from wiser.video.clips import Clip, read_clip, write_clip
from wiser.video.gate import Gated, Gating
from wiser.video.predictor import Pixels, Predictor, pixels
from wiser.video.replay import Outcome, record
from wiser.video.sheet import draw_sheet
from wiser.video.treatments import GATES, generate


def gate_clip(
    path: Path, stem: Path, size: tuple[int, int], model: Predictor, settings: Gating, gate: str, seed: int
) -> dict[str, Any]:
    """Judge the last frames of a clip; the video that is written has what stands in their place."""
    clip = read_clip(path, size)
    gated = GATES[gate](clip.frames, model, settings, seed)
    whole = np.concatenate([clip.frames[: gated.start], pixels(gated.window)])
    made = write_clip(stem.with_name(f"{stem.name}.mp4"), whole, clip.rate)
    shown = _show(path, stem, clip, {gate: Outcome(gated)}, model)
    return {"files": [made.name, *shown], "gates": {gate: said(gated)}}


def generate_clip(
    path: Path,
    stem: Path,
    size: tuple[int, int],
    model: Predictor,
    settings: Gating,
    gates: Sequence[str],
    count: int,
    seed: int,
) -> dict[str, Any]:
    """Generate what comes after a clip: a video for each gate. The note says after how many frames."""
    clip = read_clip(path, size)
    outcomes, files = {}, []
    for name in gates:
        gated = GATES[name](clip.frames, model, settings, seed)
        made = generate(model, gated, count, seed)
        outcomes[name] = Outcome(gated, made)
        files.append(write_clip(stem.with_name(f"{stem.name}.{name}.mp4"), pixels(made), clip.rate).name)
    shown = _show(path, stem, clip, outcomes, model)
    verdicts = {name: said(outcome.gated) for name, outcome in outcomes.items()}
    return {"files": [*files, *shown], "after": len(clip.frames), "gates": verdicts}


def said(gated: Gated) -> list[dict[str, Any]]:
    """The verdicts, as plain data."""
    return [_plain(gated.start + place, verdict) for place, verdict in enumerate(gated.verdicts)]


def _plain(index: int, verdict: Verdict) -> dict[str, Any]:
    scores = {name: value if np.isfinite(value) else None for name, value in verdict.scores.items()}
    why = "; ".join(verdict.reasons.values())
    return {"frame": index, "mode": verdict.mode.name, **scores, "reset": bool(verdict.reset), "why": why}


def _show(path: Path, stem: Path, clip: Clip, outcomes: dict[str, Outcome], model: Predictor) -> list[str]:
    """A contact sheet and a replay page; broken frames are marked if the note beside the clip tells them."""
    fault, broken = _truth(path, clip.frames)
    title = f"{path.name}, {model.title}" + (f", {fault}" if fault else "")
    sheet = draw_sheet(clip.frames, outcomes, title, stem.with_name(f"{stem.name}.png"), broken)
    speed = float(clip.rate)
    about = About(title, task=path.name, agent=model.title, measure="predicted frames", steps_per_second=speed)
    page = to_html(record(clip.frames, outcomes, about, fault, broken), stem.with_name(f"{stem.name}.html"))
    return [sheet.name, page.name]


def _truth(path: Path, frames: Pixels) -> tuple[str, NDArray[np.bool_] | None]:
    note = beside(path)
    if "broken" not in note:
        return "", None
    broken = np.zeros(len(frames), bool)
    broken[note["broken"]] = True
    return str(note["fault"]), broken
