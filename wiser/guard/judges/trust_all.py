"""No judge at all: what is healthy is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wiser.guard.calibration import Calibration
from wiser.guard.judges.candidates import least_surprising
from wiser.guard.judges.judge import Evidence, Ruling
from wiser.worldmodel.protocol import WorldModel


@dataclass(frozen=True)
class TrustAll:
    """Trust every healthy sensor: the unguarded agent."""

    needs: ClassVar[tuple[str, ...]] = ()

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> TrustAll:
        """Remembers nothing: the settings are the sitting."""
        return self

    def rule(self, evidence: Evidence) -> Ruling:
        """Trust the full healthy set."""
        healthy = evidence.healthy
        return least_surprising(evidence.look, healthy[:, None], healthy.any(1, keepdim=True), "not healthy")
