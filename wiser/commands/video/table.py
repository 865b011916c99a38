"""`wiser video table CLIPS`: the paper's table, on clips whose continuation is known."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import tyro

from wiser.commands.video.options import Clips, Judging, Model


@dataclass(frozen=True)
class Table:
    """Break clips in five ways, go on from them with gates and without, compare with what really came.

    Writes a note for each clip, trials.csv, table.md and a figure. It can be stopped and goes on where it was.
    """

    clips: Clips
    model: tyro.conf.OmitArgPrefixes[Model]
    out: Path
    """Folder to write to, such as results/video."""
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(default_factory=Judging)
    gates: tuple[str, ...] = ("paper", "predict", "witnesses")
    """Each compared with no gate: paper, predict (without D and resets), witnesses (ours: frames that bear each other
    out), authors (as published: --condition 1)."""
    faults: tuple[str, ...] = ("chrome", "gaussian", "glare", "jitter", "occlusion")
    """What breaks the clips."""
    proportion: float = 0.75
    """Share of the frames that are broken."""
    intensity: float = 1.0
    """How badly; 0 is clean, 1 severe."""
    preset: str = "paper"
    """What intensity 1 means: default, paper or paper-multi."""
    given: int = 12
    """Frames of each clip that are seen."""
    horizon: int = 8
    """Frames after them that are generated and compared."""
    seeds: int = 3
    """How often each clip is broken and gone on from."""
    scorer: str | None = None
    """proxy, pai, or package.module:NAME of a function of frames, reference picture and prompt."""

    def run(self) -> None:
        """Run what is missing and write the table."""
        from wiser.video.batch import over_clips
        from wiser.video.clips import find_clips, read_clip
        from wiser.video.scoring import find_scorer
        from wiser.video.table import Comparison, write_results
        from wiser.video.treatments import check_gates
        from wiser.video.trials import Experiment, trials

        names = ("faults", "proportion", "intensity", "preset", "given", "horizon", "seeds")
        plan = Experiment(gates=("none", *self.gates), **{name: getattr(self, name) for name in names})
        thresholds = check_gates(plan.gates, self.judging.condition)
        scorer, paths, model = find_scorer(self.scorer), find_clips(self.clips), self.model.load()
        known = self.judging.known(self.model.model, thresholds)
        settings = self.judging.gating(model, known)

        def work(path: Path, stem: Path) -> dict[str, object]:
            frames = read_clip(path, self.model.size).frames
            found = trials(path.stem, frames, model, settings, plan, scorer, self.model.prompt)
            return {"files": [], "trials": list(found)}

        told = {
            "plan": asdict(plan), "gating": asdict(settings), "scorer": self.scorer, "weights": model.digest,
            "asked": asdict(self.model) | {"threads": None},
        }  # fmt: skip
        notes = over_clips("table", paths, self.out / "clips", told, work)
        results = Comparison([trial for note in notes for trial in note["trials"]], self.gates)
        about = {
            "model": model.title, **asdict(plan), "condition": settings.condition, "judged": settings.frames,
            "k": self.judging.k, "sigma": settings.sigma, "tau": settings.tau, "tau_denoised": settings.tau_denoised,
            "calibration": known.digest[:12] if known else "none", "steps": self.model.steps, "clip": self.model.clip,
            "guidance": self.model.guidance,
        }  # fmt: skip
        write_results(results, self.out, about)
        print((self.out / "table.md").read_text())
