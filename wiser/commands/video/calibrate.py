"""`wiser video calibrate CLIPS`: what M is on clean frames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from wiser.commands.video.options import Clips, Model


@dataclass(frozen=True)
class Calibrate:
    """Measure M of clean frames and of their D, and keep it: `calibration.json`."""

    clips: Clips
    model: tyro.conf.OmitArgPrefixes[Model]
    sigma: float = 0.3
    """Strength of the noise of D, between 0 and 1."""
    frames: int = 8
    """Of each clip, evenly spaced."""
    seed: int = 0
    """Of all draws."""
    out: Path | None = None
    """Folder or file to write instead of the model's own folder."""

    def run(self) -> None:
        """Write it."""
        from rich.progress import track

        from wiser.checks import check_file, check_folder
        from wiser.video.calibration import SCORE, calibrate
        from wiser.video.clips import find_clips, read_clip

        where = self.out or Path(self.model.model)
        if self.out is None and not where.is_dir():
            raise ValueError(f"{self.model.model} is no folder to keep a calibration in: name one with --out")
        check_folder(where) if where.is_dir() else check_file(where)
        paths = find_clips(self.clips)
        model = self.model.load()
        shown = track(paths, "calibrate", transient=True)
        frames = (read_clip(path, self.model.size).frames for path in shown)
        found = calibrate(model, frames, self.sigma, self.frames, self.seed)
        found.save(where)
        print(f"{found.scores[SCORE].count} clean frames of {len(paths)} clips: {where}")
