"""Scores of videos on disk: by what really came, by a scorer that is named, or both."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from wiser.files import write_atomic
from wiser.modules import import_from_here
from wiser.video.batch import beside
from wiser.video.clips import SUFFIXES, read_clip
from wiser.video.predictor import Pixels
from wiser.video.quality import continuation_errors
from wiser.video.trials import Scorer

TABLE = "scores.csv"
SCORERS = {"proxy": "wiser.video.quality:proxy", "pai": "wiser.video.quality:pai"}
"""Those that go by a name."""


def find_scorer(name: str | None) -> Scorer | None:
    """One of `SCORERS`, or a function by its module and name, installed or in the current folder."""
    if name is None:
        return None
    module, _, attribute = SCORERS.get(name, name).partition(":")
    try:
        found: Scorer = getattr(import_from_here(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"no scorer {name!r}; there are {', '.join(SCORERS)}, or package.module:NAME: {error}"
        ) from error
    return found


@dataclass(frozen=True)
class Scoring:
    """What videos are scored by."""

    truth: Path | None = None
    scorer: str | None = None
    reference: Path | None = None
    prompt: str = ""

    def __post_init__(self) -> None:
        if self.truth is None and self.scorer is None:
            raise ValueError("nothing to score by: name --truth, --scorer, or both")
        if self.truth is not None and not self.truth.exists():
            raise ValueError(f"no video or folder {self.truth}")
        _ = self._function, self._picture  # what cannot be had is told now

    @property
    def told(self) -> dict[str, Any]:
        """Settings that scores depend on."""
        stamps = {name: _stamps(path) for name, path in (("truth", self.truth), ("reference", self.reference))}
        return {**stamps, "scorer": self.scorer, "prompt": self.prompt}

    def work(self, path: Path, stem: Path) -> dict[str, Any]:
        """Score one video."""
        frames = read_clip(path).frames
        scores: dict[str, float | None] = {}
        if self.truth is not None:
            scores |= _against(frames, path, self.truth)
        if self._function is not None:
            scores |= self._function(frames, self._picture, self.prompt)
        return {"files": [], "scores": scores}

    @cached_property
    def _function(self) -> Scorer | None:
        return find_scorer(self.scorer)

    @cached_property
    def _picture(self) -> Pixels | None:
        if self.reference is None:
            return None
        picture = cv2.imread(str(self.reference)) if self.reference.is_file() else None
        if picture is None:
            raise ValueError(f"{self.reference} is not a readable picture")
        return np.asarray(picture[..., ::-1], np.uint8)


def write_scores(notes: Sequence[Mapping[str, Any]], out: Path) -> str:
    """A line for each video in scores.csv; returns the means, as text."""
    names = list(dict.fromkeys(name for note in notes for name in note["scores"]))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["clip", *names])
    writer.writerows([note["clip"], *(note["scores"].get(name) for name in names)] for note in notes)
    write_atomic(out / TABLE, text.getvalue().encode())
    found = {name: [note["scores"].get(name) for note in notes] for name in names}
    lines = [f"{name} {_mean(values)}" for name, values in found.items()]
    return "\n".join([f"mean over {len(notes)} videos: {out / TABLE}", *lines])


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.4g}" + (f" (of {len(known)})" if len(known) < len(values) else "") if known else "none"


def _stamps(path: Path | None) -> list[str]:
    """What tells a file, or the files of a folder, from others of the same names."""
    files = [] if path is None else sorted(path.iterdir()) if path.is_dir() else [path]
    return [f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]


def _against(frames: Pixels, path: Path, truth: Path) -> dict[str, float]:
    """How like the truth a video is, frame by frame as far as both go; a generated one begins where its note says."""
    file, after = _counterpart(path, truth), beside(path).get("after", 0)
    whole = read_clip(file, (frames.shape[1], frames.shape[2])).frames
    if after >= len(whole):
        raise ValueError(
            f"{path.name} goes on after {after} frames, and {file} has {len(whole)}: let `wiser video corrupt --given` "
            "leave some out, or name a longer truth"
        )
    count = min(len(frames), len(whole) - after)
    return continuation_errors(frames[:count], whole[after : after + count])


def _counterpart(path: Path, truth: Path) -> Path:
    """The true video of this one: of `clip.paper.mp4` it is `clip.mp4`."""
    if not truth.is_dir():
        return truth
    name = path.name.removesuffix(path.suffix)
    stems = (name, name.rpartition(".")[0])
    there = [truth / f"{stem}{suffix}" for stem in stems for suffix in SUFFIXES if stem]
    return next((candidate for candidate in there if candidate.is_file()), there[0])
