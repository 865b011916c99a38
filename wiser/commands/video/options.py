"""What the commands on videos have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from wiser.extras import install_hint

if TYPE_CHECKING:
    from wiser.guard import Calibration
    from wiser.video.gate import Gating
    from wiser.video.predictor import Predictor

NEEDED = ("av", "diffusers", "transformers", "accelerate", "networkx")
Clips = tyro.conf.Positional[Annotated[tuple[Path, ...], tyro.conf.arg(metavar="CLIPS")]]
"""Videos, and folders of them."""


def check_extra() -> None:
    """A one-line ImportError where something of the extra is missing."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise ImportError(f"videos need {', '.join(missing)}: {install_hint('cosmos')}")


@dataclass(frozen=True)
class Model:
    """Which model, and how it is asked."""

    model: str
    """A folder in diffusers' layout, nvidia/Cosmos-Predict2.5-2B or another repository, or `copy`: the last frame."""
    revision: str | None = None
    """Of a repository; of the released one that with diffusers' layout."""
    guardrail: bool = False
    """Check prompts and videos also with a folder, as for a copy of released weights; with a repository they are."""
    height: int = 704
    """Frames are resized to this."""
    width: int = 1280
    """And this; both multiples of 16."""
    prompt: str = ""
    """What the video shows."""
    steps: int = 36
    """Diffusion steps of a generation."""
    guidance: float = 7.0
    """Towards the prompt; 1 = none, and half the work."""
    clip: int = 93
    """Frames of one generation, 4 n + 1."""
    score_clip: int = 5
    """Frames generated for M, 4 n + 1 and at least five."""
    denoise_steps: int = 4
    """Diffusion steps of D."""
    threads: int | None = None
    """Torch threads; OMP_NUM_THREADS by default, or the cores there are."""

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the frames it is shown."""
        return self.height, self.width

    def load(self) -> Predictor:
        """Find the weights."""
        from wiser.threads import use_threads
        from wiser.video.find import find_predictor

        use_threads(self.threads)
        told = ("height", "width", "prompt", "steps", "guidance", "clip", "score_clip", "denoise_steps")
        settings = {name: getattr(self, name) for name in told}
        return find_predictor(self.model, settings, self.revision, self.guardrail)


@dataclass(frozen=True)
class Judging:
    """How frames are judged."""

    frames: int = 5
    """How many of the last frames are judged."""
    condition: Literal[1, 5] = 5
    """How many frames the model goes on from, with and without a gate, where so many are there."""
    sigma: float = 0.3
    """Strength of the noise of D, between 0 and 1."""
    k: float = 3.0
    """Thresholds of M lie this many standard deviations above the mean of clean frames; the gate witnesses has none."""
    tau: float | None = None
    """Threshold of M(x), instead of the calibrated one."""
    tau_denoised: float | None = None
    """Threshold of M(D(x)), likewise."""
    calibration: Path | None = None
    """What `wiser video calibrate` wrote, unless it lies beside the model's weights."""

    def known(self, name: str, needed: bool) -> Calibration | None:
        """Where thresholds are looked up; None without `needed` (no gate has any), and where both are given."""
        from wiser.video.calibration import find_calibration

        if not needed or (self.calibration is None and None not in (self.tau, self.tau_denoised)):
            return None
        return find_calibration(self.calibration, name)

    def gating(self, model: Predictor, known: Calibration | None) -> Gating:
        """Settings of the gate."""
        from wiser.video.calibration import gating
        from wiser.video.gate import Gating

        given = {name: tau for name in ("tau", "tau_denoised") if (tau := getattr(self, name)) is not None}
        if known is None:
            return Gating(**{"tau": 0.0, "tau_denoised": 0.0, **given}, frames=self.frames, condition=self.condition,
                          sigma=self.sigma)  # fmt: skip
        return replace(gating(model, known, self.frames, self.condition, self.sigma, self.k), **given)
