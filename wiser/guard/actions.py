"""Between the environment's actions and the model's: indices or bounded numbers, and one-hots or [-1, 1]."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from wiser.worldmodel.protocol import Actions


def to_environment(action: Tensor, space: Actions) -> Tensor:
    """Model actions (B, A) -> (B,) numbers of choices, or (B, A) within the bounds."""
    if space.discrete:
        return action.argmax(-1) + space.start
    low, high = action.new_tensor(space.low), action.new_tensor(space.high)
    return (low + (action + 1) / 2 * (high - low)).clamp(low, high)


def to_model(action: Tensor, space: Actions) -> Tensor:
    """Environment actions -> model actions (B, A). Raises ValueError on what the environment could not have done."""
    if space.discrete:
        index = action.long() - space.start
        if action.ndim != 1 or bool(((index < 0) | (index >= space.size)).any()):
            raise ValueError(f"actions are {space.start}..{space.start + space.size - 1}, one per row, got {action}")
        return F.one_hot(index, space.size).float()
    action = action.float()
    if action.shape[1:] != (space.size,) or not bool(torch.isfinite(action).all()):
        raise ValueError(f"actions are {space.size} finite numbers per row, got {action}")
    low, high = action.new_tensor(space.low), action.new_tensor(space.high)
    width = high - low
    return torch.where(width > 0, (action - low) / width.clamp(min=1e-12) * 2 - 1, 0.0)
