"""`wiser video gate CLIPS`: let a model judge the last frames of videos."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import tyro

from wiser.commands.video.options import Clips, Judging, Model


@dataclass(frozen=True)
class Gate:
    """Judge the last frames: accept each, accept it denoised, or put the model's own prediction in its place.

    Writes the video as it then is, a contact sheet, a replay page, and a note with what was said of each frame.
    """

    clips: Clips
    model: tyro.conf.OmitArgPrefixes[Model]
    out: Path
    """Folder to write to."""
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(default_factory=Judging)
    gate: str = "paper"
    """paper, witnesses (ours: frames that bear each other out), predict (without D and resets) or authors (as
    published, from one frame: --condition 1)."""
    seed: int = 0
    """Of all draws."""

    def run(self) -> None:
        """Write them."""
        from wiser.video.batch import counted, over_clips
        from wiser.video.clips import find_clips
        from wiser.video.show import gate_clip
        from wiser.video.treatments import check_gates

        thresholds = check_gates((self.gate,), self.judging.condition)
        paths, model = find_clips(self.clips), self.model.load()
        settings = self.judging.gating(model, self.judging.known(self.model.model, thresholds))

        def work(path: Path, stem: Path) -> dict[str, object]:
            return gate_clip(path, stem, self.model.size, model, settings, self.gate, self.seed)

        told = {
            "gating": asdict(settings), "gate": self.gate, "seed": self.seed, "weights": model.digest,
            "asked": asdict(self.model) | {"threads": None},
        }  # fmt: skip
        print(counted(over_clips("gate", paths, self.out, told, work), self.out))
