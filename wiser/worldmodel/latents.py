"""Arithmetic on categorical latents (..., S, C), without distribution objects. Part of the seam."""

from __future__ import annotations

import math
from functools import reduce

import torch
from torch import Tensor
from torch.nn import functional as F


def unimix_logprobs(logits: Tensor, unimix: float) -> Tensor:
    """Log-probabilities (..., C) of `unimix` uniform + the rest softmax; never below log(unimix / C)."""
    logprobs = F.log_softmax(logits, -1)
    if unimix == 0.0:
        return logprobs
    uniform = math.log(unimix / logits.shape[-1])
    return torch.logaddexp(logprobs + math.log1p(-unimix), torch.full_like(logprobs, uniform))


def one_hot_mode(logprobs: Tensor) -> Tensor:
    """One-hot of the most likely class, (..., C)."""
    return F.one_hot(logprobs.argmax(-1), logprobs.shape[-1]).to(logprobs.dtype)


def one_hot_sample(logprobs: Tensor, noise: Tensor) -> Tensor:
    """One-hot samples (..., C) by inverse CDF from uniform `noise` (...) in [0, 1)."""
    below = logprobs.exp().cumsum(-1) <= noise[..., None]  # (..., C)
    index = below.sum(-1).clamp(max=logprobs.shape[-1] - 1)  # rounding may leave the last sum a hair under 1
    return F.one_hot(index, logprobs.shape[-1]).to(logprobs.dtype)


def all_finite(*values: Tensor, start: int = 1) -> Tensor:
    """Whether everything from axis `start` on is finite, and not too large to add up: one sum tells."""
    total = reduce(torch.add, (each.flatten(start).sum(-1) for each in values))
    return total - total == 0.0  # no infinity and no NaN is


def kl_categorical(posterior: Tensor, prior: Tensor) -> Tensor:
    """KL[posterior || prior] in nats, summed over latents: log-probabilities (..., S, C) -> (...)."""
    return (posterior.exp() * (posterior - prior)).sum((-2, -1)).clamp(min=0.0)
