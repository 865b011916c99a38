"""What lies ahead: what states are expected to pay, and what that amounts to."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Foreseen(NamedTuple):
    """What a model expects of states, one number for each."""

    reward: Tensor  # (...): on arrival there
    cost: Tensor  # (...): likewise; zero where the model knows of no cost
    proceed: Tensor  # (...): probability that the episode goes on
    value: Tensor  # (...): of what comes afterwards


def lambda_returns(reward: Tensor, live: Tensor, mix: Tensor | float, value: Tensor) -> Tensor:
    """Lambda-returns (n, H) of states 0..H-1, from what is known of each state on arrival, (n, H + 1) each.

    R_t = r_{t+1} + live_{t+1} ((1 - mix_{t+1}) v_{t+1} + mix_{t+1} R_{t+1}); after the last state comes its value.
    `live` is the discounted probability that the episode goes on, `mix` (lambda) how far returns look on.
    """
    mix = torch.as_tensor(mix, dtype=reward.dtype, device=reward.device).expand_as(reward)
    interim = reward + (1 - mix) * live * value
    returns = [value[:, -1]]
    for t in reversed(range(1, reward.shape[1])):
        returns.append(interim[:, t] + live[:, t] * mix[:, t] * returns[-1])
    return torch.stack(returns[:0:-1], 1)
