"""One judge after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from wiser.guard.calibration import Calibration
from wiser.guard.judges.judge import Diagnosis, Equipped, Evidence, Judge, Ruling, Sitting
from wiser.worldmodel.protocol import WorldModel


@dataclass(frozen=True)
class Chain:
    """The second judge sees only the sensors that the first one trusts, and the belief that it goes on from."""

    first: Judge
    second: Judge

    @property
    def needs(self) -> tuple[str, ...]:
        """What either of them needs."""
        return tuple(dict.fromkeys((*self.first.needs, *self.second.needs)))

    def files(self, model: WorldModel) -> tuple[Path, ...]:
        """Weights of either of them."""
        equipped = [judge for judge in (self.first, self.second) if isinstance(judge, Equipped)]
        return tuple(file for judge in equipped for file in judge.files(model))

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> ChainSitting:
        """Start both."""
        return ChainSitting(self.first.start(model, rows, calibration), self.second.start(model, rows, calibration))


@dataclass(frozen=True)
class ChainSitting:
    """Both judges at work."""

    first: Sitting
    second: Sitting

    def rule(self, evidence: Evidence) -> Ruling:
        """Trust what both trust. A sensor's reason is that of the judge who left it out."""
        first = self.first.rule(evidence)
        passed = replace(evidence.look, prior=first.prior, mask=first.trusted, inferred=first.logprobs)
        second = self.second.rule(evidence._replace(look=passed))
        unseen = torch.isnan(second.surprise)  # (B,)
        return second._replace(
            surprise=torch.where(unseen, first.surprise, second.surprise),
            reset=first.reset | second.reset,
            repaired=first.repaired | second.repaired,
            scores={**first.scores, **second.scores},
            why=lambda row, column: (second if first.trusted[row, column] else first).why(row, column),
            diagnosis=_worse(first, second),
        )


def _worse(first: Ruling, second: Ruling) -> Diagnosis | None:
    """The diagnosis of the only judge that has one; of two, what is worse for each sensor."""
    if first.diagnosis is None or second.diagnosis is None:
        return first.diagnosis or second.diagnosis
    return Diagnosis(*(torch.maximum(one, other) for one, other in zip(first.diagnosis, second.diagnosis, strict=True)))
