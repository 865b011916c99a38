"""How long predictions hold without any sensor: measured on clean runs, beside those who see, and kept to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wiser.checks import at_least
from wiser.guard.calibration import Calibration
from wiser.guard.draws import RowDraws
from wiser.guard.judges.judge import Evidence
from wiser.worldmodel.latents import kl_categorical, one_hot_sample
from wiser.worldmodel.protocol import Belief, WorldModel

HORIZON: Literal["horizon"] = "horizon"
"""As a limit of blind steps: what a calibration has measured."""
BlindLimit = int | Literal["horizon"] | None
"""Steps, or the blind horizon, or none at all."""
LONGEST = 64
"""Steps that are predicted at most."""
BAND = 0.99
"""Share of clean surprises that lie within the nominal band."""
_ENOUGH = 20  # stretches of a length, to say something about it


class BlindRuns:
    """In every row a belief with its eyes shut: a copy of the one that sees, made anew from time to time.

    How surprised it would be, were they opened, is recorded by the number of steps since.
    """

    def __init__(self, model: WorldModel, rows: int, draws: RowDraws) -> None:
        self.model, self.draws = model, draws.apart("blind")
        self.belief = model.initial(rows)
        device = self.belief.deter.device
        self.begins_at = torch.arange(rows, device=device) * LONGEST // rows  # rows shut their eyes at different steps
        self.steps = torch.zeros(rows, dtype=torch.long, device=device)  # blind so far
        self.left = self.begins_at.clone()  # of the present stretch
        self.recorded: list[tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]] = []

    def take(self, evidence: Evidence, seeing: Belief) -> None:
        """Predict what the step was, note how wrong that is, and look where a stretch is over."""
        look, begin = evidence.look, evidence.begin
        prior = self.model.predict(self.belief, evidence.action, begin)
        seen = self.model.infer(prior, look.features, look.mask[:, None])[:, 0]
        nats = kl_categorical(seen, prior.logprobs)  # (B,)
        self.steps = self.steps + 1
        later = ~begin
        found = (self.steps[later], nats[later].float(), look.surprise[later].float())
        steps, blind, usual = (values.cpu().numpy() for values in found)
        self.recorded.append((steps, blind, usual))
        noise = torch.as_tensor(self.draws.uniform(seen.shape[1]), dtype=nats.dtype, device=nats.device)
        self.left = torch.where(begin, self.begins_at, self.left - 1)
        over = ~begin & (self.left < 0)
        self.left = torch.where(over, LONGEST, self.left)
        self.steps = torch.where(begin | over, 0, self.steps)
        predicted = Belief(prior.deter, one_hot_sample(prior.logprobs, noise))
        self.belief = _belief_where(begin | over, seeing, predicted)

    def horizon(self) -> int | None:
        """Blind steps that predictions stay within the nominal band for; None if there were too few to say."""
        steps, blind, usual = (np.concatenate(values) for values in zip(*self.recorded, strict=True))
        medians = []
        for count in range(1, LONGEST + 1):
            stretches = blind[steps == count]
            if len(stretches) < _ENOUGH:
                break
            medians.append(float(np.median(stretches)))
        return steps_within(medians, float(np.quantile(usual, BAND))) if medians else None


def blind_steps(limit: BlindLimit, calibration: Calibration | None) -> int | None:
    """A limit in steps; the horizon of a calibration that has none, or is not there, is no limit."""
    if isinstance(limit, str):
        if limit != HORIZON:
            raise ValueError(f"blind_limit is a number of steps, {HORIZON!r} or None, got {limit!r}")
        return calibration.horizon if calibration else None
    at_least(0, blind_limit=limit)
    return limit


def steps_within(medians: Sequence[float], band: float) -> int:
    """Of median surprises after 1, 2, ... blind steps: how many come before the first above the band."""
    return next((step for step, nats in enumerate(medians) if not nats <= band), len(medians))


def _belief_where(rows: Tensor, this: Belief, that: Belief) -> Belief:
    return Belief(
        torch.where(rows[:, None], this.deter, that.deter), torch.where(rows[:, None, None], this.stoch, that.stoch)
    )
