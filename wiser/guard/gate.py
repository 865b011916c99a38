"""Accept a reading, accept it repaired, or reject it: tests, stages and the table, whatever a reading is.

For the guard it is a `Look` of many rows, for a video one frame. What a model does with the answer is its own affair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor

from wiser.guard.transitions import Source, Stage, Transitions, transition_table

Reading = TypeVar("Reading")
Measured = tuple[Tensor, Tensor]
"""A score and the threshold it must stay below, (B,) each."""


@dataclass(frozen=True)
class Exam(Generic[Reading]):
    """What a reading must pass. Each test is told which rows begin (B,)."""

    measure: Callable[[Reading, Tensor], Measured]
    """M, and its threshold."""
    repair: Callable[[Reading], Reading] | None = None
    """D; None = what is not clean is rejected."""
    tau_denoised: float | None = None
    """Threshold of M(D(x)); None = that of M."""
    context: Callable[[Reading, Tensor], Measured] | None = None
    """What repaired readings must pass too, if the transitions ask for it."""


@dataclass(frozen=True)
class Passage(Generic[Reading]):
    """What the gate made of a reading."""

    source: Tensor
    """(B,) values of `Source`: what each row goes on from."""
    scores: dict[str, Tensor]
    """`score`, `denoised` and `context`, (B,) each; NaN where not measured."""
    repaired: Reading | None
    """The reading as repaired, if any row needed that."""

    @property
    def reset(self) -> Tensor:
        """(B,) bool: rows whose context begins anew."""
        return (self.source == Source.POSTERIOR_RESET) | (self.source == Source.DENOISED_RESET)

    @property
    def denoised(self) -> Tensor:
        """(B,) bool: rows that go on from the repaired reading."""
        return (self.source == Source.DENOISED) | (self.source == Source.DENOISED_RESET)

    @property
    def accepted(self) -> Tensor:
        """(B,) bool: rows that go on from the reading, repaired or not."""
        return self.source != Source.PRIOR


class Gate(Generic[Reading]):
    """Carries the stage of each row."""

    def __init__(self, exam: Exam[Reading], transitions: Transitions, rows: int, device: torch.device) -> None:
        self.exam = exam
        self.table = transition_table(transitions).to(device)
        self.stage = torch.zeros(rows, dtype=torch.long, device=device)

    def judge(self, reading: Reading, begin: Tensor, usable: Tensor) -> Passage[Reading]:
        """Advance every row by one reading. Rows that begin start in stage 0; those not usable are rejected."""
        stage = torch.where(begin, int(Stage.CLEAN), self.stage)
        conditions, scores, repaired = self._examine(reading, begin, usable)
        cell = self.table[stage, *conditions]  # (B, 2)
        self.stage = cell[:, 0]
        return Passage(cell[:, 1], scores, repaired)

    def _examine(
        self, reading: Reading, begin: Tensor, usable: Tensor
    ) -> tuple[tuple[Tensor, Tensor, Tensor], dict[str, Tensor], Reading | None]:
        """Conditions c1, c2, c3 as 0 or 1, (B,) each, the scores they rest on, and the reading as repaired."""
        exam = self.exam
        score, tau = exam.measure(reading, begin)
        unmeasured = torch.full_like(score, torch.nan)
        scores = {"score": score, "denoised": unmeasured, "context": unmeasured}
        c1 = (score < tau) & usable
        repaired = None
        if exam.repair is not None and not bool(c1.all()):
            repaired = exam.repair(reading)
            scores["denoised"] = torch.where(c1, torch.nan, exam.measure(repaired, begin)[0])
        c2 = (scores["denoised"] < (tau if exam.tau_denoised is None else exam.tau_denoised)) & usable
        c3 = torch.zeros_like(c2)
        if exam.context is not None and repaired is not None:
            context, limit = exam.context(repaired, begin)
            scores["context"] = torch.where(c1, torch.nan, context)
            c3 = scores["context"] < limit
        return (c1.long(), c2.long(), c3.long()), scores, repaired
