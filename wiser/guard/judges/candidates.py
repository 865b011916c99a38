"""What judges share that choose among subsets of sensors by surprise."""

from __future__ import annotations

import torch
from torch import Tensor

from wiser.guard.judges.judge import Ruling
from wiser.guard.look import Look
from wiser.worldmodel.protocol import WorldModel


def least_surprising(look: Look, masks: Tensor, valid: Tensor, reason: str) -> Ruling:
    """Infer every candidate (B, K, N) in one batch and take the first of the least surprising valid ones (B, K)."""
    logprobs, nats = look.infer(masks)
    return pick(look, masks, logprobs, torch.where(valid, nats, torch.inf), reason)


def pick(look: Look, masks: Tensor, logprobs: Tensor, nats: Tensor, reason: str) -> Ruling:
    """Take the first of the least surprising candidates (B, K, N), given their posteriors and surprise (B, K).

    Rows where no candidate has a finite surprise predict. `reason` is why healthy sensors are left out.
    """
    rows = torch.arange(masks.shape[0], device=masks.device)
    best = nats.argmin(1)  # (B,); the first on ties
    surprise = nats[rows, best]  # (B,)
    seen = torch.isfinite(surprise)
    never = torch.zeros_like(seen)
    return Ruling(
        trusted=masks[rows, best] & seen[:, None],  # (B, N)
        prior=look.prior,
        logprobs=torch.where(seen[:, None, None], logprobs[rows, best], look.prior.logprobs),  # (B, S, C)
        surprise=torch.where(seen, surprise, torch.nan),
        reset=never,
        repaired=never,
        scores={},
        why=lambda row, column: reason if seen[row] else "no finite posterior",
    )


def required_columns(required: tuple[str, ...], model: WorldModel) -> Tensor:
    """(N,) bool of the sensors that must not be left out."""
    names = [sensor.name for sensor in model.sensors]
    if isinstance(required, str):
        raise ValueError(f"required is a tuple of names, not the text {required!r}")
    if unknown := set(required) - set(names):
        raise ValueError(f"required sensors {sorted(unknown)} are unknown; the model has {names}")
    return torch.tensor([name in required for name in names], device=model.initial(1).deter.device)
