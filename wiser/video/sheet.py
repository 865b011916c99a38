"""A contact sheet: what was observed, what each gate made of it, what came of that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from wiser.files import replacing
from wiser.guard import Mode, Verdict
from wiser.record.frame import CARD, DIM, HAZARD, INK, PAPER, Drawing, fitted, text
from wiser.video.predictor import Pixels, pixels
from wiser.video.replay import Outcome

TILE, GAP, LABEL, HEAD, CAPTION = 128, 8, 118, 44, 34
MARKS = {
    Mode.GROUNDED: ("#009e73", "accepted"),
    Mode.DENOISED: ("#0072b2", "denoised"),
    Mode.PREDICTIVE: ("#d55e00", "rejected"),
    Mode.FALLBACK: ("#7a818e", "least bad"),
}
"""Frames and words; colours are safe for colour-blind people."""


def draw_sheet(
    clip: Pixels, outcomes: Mapping[str, Outcome], title: str, path: Path, broken: NDArray[np.bool_] | None = None
) -> Path:
    """A PNG: a column for each frame that any gate judged; then what was generated, evenly spaced frames of it."""
    start = min(outcome.gated.start for outcome in outcomes.values())
    count = len(clip) - start
    tall = round(TILE * clip.shape[1] / clip.shape[2])
    rows = 1 + len(outcomes) + sum(outcome.generated is not None for outcome in outcomes.values())
    size = (LABEL + count * (TILE + GAP), HEAD + rows * (tall + CAPTION))
    image = Image.new("RGB", size, PAPER)
    pen = ImageDraw.Draw(image)
    text(pen, fitted(title, 16, size[0] - 16), 8, 12, 16, INK)
    harmed = np.zeros(len(clip), bool) if broken is None else broken
    row = _Row(image, pen, HEAD, tall, "observed")
    for place in range(count):
        row.tile(clip[start + place], HAZARD if harmed[start + place] else CARD, f"frame {start + place}", "")
    for name, outcome in outcomes.items():
        row = row.below(name, outcome.gated.start - start)
        for frame, verdict in zip(pixels(outcome.gated.window), outcome.gated.verdicts, strict=True):
            colour, word = MARKS[Mode(verdict.mode)]
            row.tile(frame, colour, word, _scores(verdict))
        if outcome.generated is not None:
            row = row.below("  generated")
            chosen = np.linspace(0, len(outcome.generated) - 1, min(count, len(outcome.generated))).round().astype(int)
            for index in chosen.tolist():
                row.tile(pixels(outcome.generated[index]), CARD, f"+{index + 1}", "")
    with replacing(path) as temporary:
        image.save(temporary)
    return path


class _Row:
    """Tiles from left to right."""

    def __init__(self, image: Image.Image, pen: Drawing, top: int, tall: int, label: str, column: int = 0) -> None:
        self.image, self.pen, self.top, self.tall, self.x = image, pen, top, tall, LABEL + column * (TILE + GAP)
        text(pen, fitted(label, 13, LABEL - 12), 8, top + tall // 2 - 8, 13, INK)

    def below(self, label: str, column: int = 0) -> _Row:
        """The next row, with the first of its tiles in a column."""
        return _Row(self.image, self.pen, self.top + self.tall + CAPTION, self.tall, label, column)

    def tile(self, frame: Pixels, colour: str, word: str, note: str) -> None:
        """A picture with a frame, a word and a note."""
        self.image.paste(Image.fromarray(frame).resize((TILE, self.tall)), (self.x, self.top))
        box = (self.x - 3, self.top - 3, self.x + TILE + 2, self.top + self.tall + 2)
        self.pen.rectangle(box, None, colour, 3)
        text(self.pen, word, self.x, self.top + self.tall + 4, 11, INK)
        text(self.pen, fitted(note, 9, TILE), self.x, self.top + self.tall + 18, 9, DIM)
        self.x += TILE + GAP


def _scores(verdict: Verdict) -> str:
    said = {"score": "M", "denoised": "M(D)"}
    found = {said[name]: value for name, value in verdict.scores.items() if np.isfinite(value)}
    return "  ".join(f"{name} {value:.1e}" for name, value in found.items())
