"""`wiser video corrupt CLIPS`: break videos with the project's own faults."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from wiser.commands.video.options import Clips


@dataclass(frozen=True)
class Corrupt:
    """Break a share of the frames of videos, each drawn anew, and note which."""

    clips: Clips
    fault: str
    """chrome, gaussian, glare, jitter, occlusion, or another of `wiser faults`."""
    out: Path
    """Folder to write the broken videos to."""
    given: int | None = None
    """Only the first so many frames of each video: what comes after them is the truth of what is then generated."""
    proportion: float = 0.75
    """Share of the frames that are broken."""
    intensity: float = 1.0
    """How badly; 0 is clean, 1 severe."""
    preset: str = "paper"
    """What intensity 1 means: default, paper or paper-multi."""
    seed: int = 0
    """Of all draws: the same frames are broken by every fault."""

    def run(self) -> None:
        """Write them."""
        from wiser.checks import at_least
        from wiser.video.batch import counted, over_clips
        from wiser.video.clips import find_clips, read_clip, write_clip
        from wiser.video.corrupt import Corruption, corrupt

        at_least(1, given=self.given)
        harm = Corruption(self.fault, self.proportion, self.intensity, self.preset, self.seed)
        told = asdict(harm) | {"given": self.given}

        def work(path: Path, stem: Path) -> dict[str, object]:
            clip = read_clip(path)
            if self.given is not None and len(clip.frames) < self.given:
                raise ValueError(f"{path} has {len(clip.frames)} frames, not {self.given}: lower --given")
            frames, broken = corrupt(clip.frames[: self.given], harm)
            suffix = ".npy" if path.suffix == ".npy" else ".mp4"  # what no codec touched, none touches here
            made = write_clip(stem.with_name(f"{stem.name}{suffix}"), frames, clip.rate)
            return {"files": [made.name], **told, "broken": broken.nonzero()[0].tolist()}

        print(counted(over_clips(f"corrupt: {self.fault}", find_clips(self.clips), self.out, told, work), self.out))
