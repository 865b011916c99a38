"""`wiser video generate CLIPS`: what comes next, with and without a gate."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import tyro

from wiser.commands.video.options import Clips, Judging, Model


@dataclass(frozen=True)
class Generate:
    """Generate what comes after videos, with gates and without.

    Writes a video for each gate, a contact sheet, a replay page with a lane for each, and a note.
    """

    clips: Clips
    model: tyro.conf.OmitArgPrefixes[Model]
    out: Path
    """Folder to write to."""
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(default_factory=Judging)
    gates: tuple[str, ...] = ("none", "paper")
    """none, paper, witnesses (ours: frames that bear each other out), predict (without D and resets), authors (as
    published, from one frame: --condition 1)."""
    count: int = 88
    """Frames to generate."""
    seed: int = 0
    """Of all draws; the same for every gate."""

    def run(self) -> None:
        """Write them."""
        from wiser.checks import at_least
        from wiser.video.batch import counted, over_clips
        from wiser.video.clips import find_clips
        from wiser.video.show import generate_clip
        from wiser.video.treatments import check_gates

        at_least(1, count=self.count)
        thresholds = check_gates(self.gates, self.judging.condition)
        paths, model = find_clips(self.clips), self.model.load()
        settings = self.judging.gating(model, self.judging.known(self.model.model, thresholds))

        def work(path: Path, stem: Path) -> dict[str, object]:
            return generate_clip(path, stem, self.model.size, model, settings, self.gates, self.count, self.seed)

        told = {
            "gating": asdict(settings), "gates": self.gates, "count": self.count, "seed": self.seed,
            "weights": model.digest, "asked": asdict(self.model) | {"threads": None},
        }  # fmt: skip
        print(counted(over_clips("generate", paths, self.out, told, work), self.out))
