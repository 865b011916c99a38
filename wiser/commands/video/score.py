"""`wiser video score CLIPS`: how good generated videos are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wiser.commands.video.options import Clips


@dataclass(frozen=True)
class Score:
    """Score videos: against what really came, or by a scorer, or both."""

    clips: Clips
    out: Path
    """Folder to write a note for each video and scores.csv to."""
    truth: Path | None = None
    """Videos of what really came, by the same names: PSNR and SSIM. A folder, or one video for all."""
    scorer: str | None = None
    """proxy, pai, or package.module:NAME of a function of frames, reference picture and prompt."""
    reference: Path | None = None
    """Picture that the videos go on from, for the scorer; the last clean frame in the paper."""
    prompt: str = ""
    """What the videos show, for the scorer."""

    def run(self) -> None:
        """Write them."""
        from wiser.video.batch import over_clips
        from wiser.video.clips import find_clips
        from wiser.video.scoring import Scoring, write_scores

        scoring = Scoring(self.truth, self.scorer, self.reference, self.prompt)
        notes = over_clips("score", find_clips(self.clips), self.out, scoring.told, scoring.work)
        print(write_scores(notes, self.out))
