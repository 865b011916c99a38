"""Ours: sensors are compared with their own clean runs, not with each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.judges.candidates import least_surprising, required_columns
from wiser.guard.judges.judge import Evidence, Ruling
from wiser.guard.scores import SCORES
from wiser.worldmodel.protocol import WorldModel


@dataclass(frozen=True)
class Calibrated:
    """Ours: every sensor whose surprise, alone, is usual for it; if none is, the one that exceeds its own by least.

    Sensors are not compared with each other but with their own clean runs, so nothing is masked without a reason.
    """

    level: float = 0.999
    """Share of clean steps at which a sensor counts as usual."""
    required: tuple[str, ...] = ()
    """Sensors that are never masked while healthy."""
    needs: ClassVar[tuple[str, ...]] = ("surprise",)

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> Limits:
        """Look up what is usual for each sensor."""
        required = required_columns(self.required, model)
        if calibration is None:
            raise ValueError("judge 'calibrated' needs a calibration: calibration.json beside the weights, written "
                             "by `calibrate`, or calibration=...")  # fmt: skip
        names = SCORES["surprise"].singles(model.sensors)
        limits = [[calibration.quantile(name, self.level, begin) for name in names] for begin in (False, True)]
        return Limits(torch.tensor(limits, device=required.device), required)


@dataclass(frozen=True)
class Limits:
    """Compares every sensor with its limit."""

    nats: Tensor  # (2, N): later in an episode, and at its beginning
    required: Tensor  # (N,) bool

    def rule(self, evidence: Evidence) -> Ruling:
        """Trust the healthy sensors within their limits, or the one that is nearest to its own."""
        look, healthy = evidence.look, evidence.healthy
        nats = torch.where(healthy, look.infer(look.alone)[1], torch.inf)  # (B, N)
        excess = nats / self.nats[evidence.begin.long()].clamp(min=1e-6)
        usual = excess <= excess.amin(1, keepdim=True).clamp(min=1.0)
        masks = (healthy & (usual | self.required))[:, None]  # (B, 1, N)
        reason = "more surprising than it usually is"
        ruling = least_surprising(look, masks, healthy.any(1, keepdim=True), reason)
        return ruling._replace(scores={"isolated_surprise": nats})
