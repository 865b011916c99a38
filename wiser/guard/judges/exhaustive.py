"""The paper's upper bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.judges.candidates import least_surprising, required_columns
from wiser.guard.judges.judge import Evidence, Ruling
from wiser.guard.subsets import every_subset
from wiser.worldmodel.protocol import WorldModel


@dataclass(frozen=True)
class Exhaustive:
    """All 2^N subsets, the empty one included: the paper's upper bound, in one batch."""

    required: tuple[str, ...] = ()
    """Sensors that are never masked while healthy."""
    needs: ClassVar[tuple[str, ...]] = ()

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> SubsetSearch:
        """Check the names of required sensors, and refuse more sensors than can be searched."""
        required = required_columns(self.required, model)
        return SubsetSearch(every_subset(len(model.sensors)).to(required.device), required)


@dataclass(frozen=True)
class SubsetSearch:
    """Compares the same subsets at every step."""

    subsets: Tensor  # (K, N) bool
    required: Tensor  # (N,) bool

    def rule(self, evidence: Evidence) -> Ruling:
        """Trust the least surprising subset."""
        look, healthy = evidence.look, evidence.healthy
        keeps_required = (self.subsets | ~(healthy & self.required)[:, None]).all(2)  # (B, K)
        within = (~self.subsets | healthy[:, None]).all(2)  # no repeats: subsets of the healthy sensors only
        valid = keeps_required & within & healthy.any(1, keepdim=True)
        masks = self.subsets.expand(healthy.shape[0], -1, -1)  # (B, K, N)
        return least_surprising(look, masks, valid, "more surprising than without it")
