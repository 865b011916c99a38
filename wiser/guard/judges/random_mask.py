"""The paper's random baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from wiser.guard.calibration import Calibration
from wiser.guard.judges.candidates import least_surprising
from wiser.guard.judges.judge import Evidence, Ruling
from wiser.worldmodel.protocol import WorldModel


@dataclass(frozen=True)
class RandomMask:
    """RME baseline: mask k ~ Uniform{0..N} random sensors, no surprise involved."""

    redraw: bool = True
    """Draw at every step, as intended; the published code drew once per run and kept that mask for all rows."""
    seed: int = 0
    """Decides the one mask when `redraw` is off."""
    needs: ClassVar[tuple[str, ...]] = ()

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> RandomMask:
        """Remembers nothing: the settings are the sitting."""
        return self

    def rule(self, evidence: Evidence) -> Ruling:
        """Trust a random subset of the healthy sensors."""
        healthy = evidence.healthy
        rows, sensors = healthy.shape
        if self.redraw:
            uniform = evidence.draws.uniform(sensors + 1)  # (B, N + 1)
        else:
            uniform = np.broadcast_to(np.random.default_rng(self.seed).random(sensors + 1), (rows, sensors + 1))
        masked = (uniform[:, :1] * (sensors + 1)).astype(np.int64)  # (B, 1) in 0..N
        keep = torch.from_numpy(uniform[:, 1:].argsort(1).argsort(1) >= masked).to(healthy.device)  # (B, N)
        masks = (healthy & keep)[:, None]  # (B, 1, N)
        return least_surprising(evidence.look, masks, healthy.any(1, keepdim=True), "masked at random")
