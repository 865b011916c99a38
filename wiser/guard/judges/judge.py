"""What a way to trust is: settings, the judge, that start a sitting, which rules on one step after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.draws import RowDraws
from wiser.guard.look import Look
from wiser.worldmodel.protocol import Prior, WorldModel


class Evidence(NamedTuple):
    """Everything known about a step, in all rows of a guard."""

    look: Look  # readings, features and prior; the sensors in use are those that may be trusted
    begin: Tensor  # (B,) bool: rows that start an episode
    action: Tensor  # (B, A) what was really done since the last step, in the model's terms; nothing where `begin`
    draws: RowDraws

    @property
    def healthy(self) -> Tensor:
        """(B, N) bool: the sensors that may be trusted."""
        return self.look.mask


class Diagnosis(NamedTuple):
    """How the sensors of each row are, whether or not they are trusted."""

    level: Tensor  # (B, N) values of `Level`
    delay: Tensor  # (B, N) steps; 0 where none is known


class Ruling(NamedTuple):
    """Which sensors of each row are trusted, and the belief that follows."""

    trusted: Tensor  # (B, N) bool: what the belief rests on; healthy sensors only
    prior: Prior  # of the belief to go on from, (B, D) and (B, S, C): the look's own, or one that is handed over
    logprobs: Tensor  # (B, S, C) of that belief
    surprise: Tensor  # (B,) nats of what was judged, accepted or not; NaN where nothing was
    reset: Tensor  # (B,) bool: whether the prior is that of a context reset
    repaired: Tensor  # (B,) bool: whether the belief rests on readings that were mended
    scores: dict[str, Tensor]  # what else was measured, (B,) or (B, N)
    why: Callable[[int, int], str]  # what is wrong with the sensor in this row and column; asked only if something is
    diagnosis: Diagnosis | None = None  # of judges that tell what is broken from what is masked


class Sitting(Protocol):
    """A judge at work for the rows of one guard. May remember what it saw, and forgets a row where it begins."""

    def rule(self, evidence: Evidence) -> Ruling:
        """Decide one step. Called once a step, in order."""


class Judge(Protocol):
    """Settings of a way to trust. One object may serve many guards: memory belongs to what `start` returns."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Scores that must have been calibrated; if there are none, no calibration is looked for."""

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> Sitting:
        """Check the settings against the model and give a guard its own sitting."""


Meter = Callable[[Evidence], dict[str, Tensor]]
"""Takes one step after another of a clean run and gives statistics by name, (B,) each. May remember."""


@runtime_checkable
class Measuring(Protocol):
    """A judge with clean statistics that no single look gives: `calibrate(..., judges=(judge,))` records them."""

    def measure(self, model: WorldModel, rows: int) -> Meter:
        """Begin to measure. No calibration is there yet."""

    def conclude(
        self, calibration: Calibration, frames: Mapping[str, NDArray[Any]], begin: NDArray[np.bool_]
    ) -> Mapping[str, NDArray[Any]]:
        """Statistics (T, B) by name that follow from whole runs: all `frames` (T, B), and what is usual in each."""


@runtime_checkable
class Equipped(Protocol):
    """A judge that has learned: more than its settings and the model decides."""

    def files(self, model: WorldModel) -> tuple[Path, ...]:
        """Where the weights are that it uses with this model."""


def prior_where(rows: Tensor, this: Prior, that: Prior) -> Prior:
    """`this` in some rows (B,), `that` in the others."""
    return Prior(
        torch.where(rows[:, None], this.deter, that.deter),
        torch.where(rows[:, None, None], this.logprobs, that.logprobs),
    )
