"""Break a clip with the project's own faults: exactly a share of its frames, drawn without replacement."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wiser import seeds
from wiser.faults import PRESETS, Signal
from wiser.faults.registry import find
from wiser.names import perhaps
from wiser.video.predictor import Pixels

FAULTS = ("chrome", "gaussian", "glare", "jitter", "occlusion")
"""The five of the paper's table."""


@dataclass(frozen=True)
class Corruption:
    """What breaks a clip, how often and how badly."""

    fault: str
    proportion: float = 0.75
    """Share of the frames."""
    intensity: float = 1.0
    preset: str = "paper"
    """What intensity 1 means: default, paper or paper-multi."""
    seed: int = 0

    def __post_init__(self) -> None:
        fault = find(self.fault)
        if "image" not in fault.kinds or self.fault == "missing":
            raise ValueError(f"fault {self.fault!r} leaves no frame to look at: choose another")
        if self.preset not in PRESETS:
            known = ", ".join(PRESETS)
            raise ValueError(f"unknown preset {self.preset!r}{perhaps(self.preset, PRESETS)}; there are {known}")
        if not 0.0 <= self.proportion <= 1.0:
            raise ValueError(f"proportion lies in [0, 1], got {self.proportion}")
        if not 0.0 <= self.intensity < math.inf:
            raise ValueError(f"intensity is a number of at least 0, got {self.intensity}")


def corrupt(clip: Pixels, corruption: Corruption) -> tuple[Pixels, NDArray[np.bool_]]:
    """A broken copy of a clip (T, H, W, 3), and which frames are broken (T,).

    Faults of a stream remember what came before, as of a camera that runs.
    """
    broken = _which(len(clip), corruption)
    stream = find(corruption.fault).start(Signal.of(clip), PRESETS[corruption.preset])
    out = clip.copy()
    for index, frame in enumerate(out):
        if not broken[index] or corruption.intensity == 0:
            stream.watch(frame)
            continue
        rng = seeds.generator(f"video/{corruption.fault}", corruption.seed, index)
        harmed = stream.corrupt(frame, corruption.intensity, rng)
        if harmed is not None and harmed is not frame:
            out[index] = harmed
    return out, broken


def _which(frames: int, corruption: Corruption) -> NDArray[np.bool_]:
    """(T,) bool: the same frames whatever the fault."""
    drawn = seeds.generator("video/which", corruption.seed).permutation(frames)[: int(frames * corruption.proportion)]
    broken = np.zeros(frames, bool)
    broken[drawn] = True
    return broken
