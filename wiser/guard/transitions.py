"""The rejection state machine as a pure function: (stage, conditions) -> (stage, which belief to use).

Conditions, each per row: c1 the observation is plausible, M(x) < tau; c2 the denoised one is, M(D(x)) < tau;
c3 the denoised one also fits the context. Stages are numbered as in the published code.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, get_args

import torch
from torch import Tensor


class Stage(IntEnum):
    """How the last observation was dealt with."""

    CLEAN = 0
    DENOISED = 1
    PREDICTING = 2
    DENOISED_AGAIN = 3  # not clean before
    DENOISED_RESET = 4
    STILL_PREDICTING = 5


class Source(IntEnum):
    """Which belief is acted on and carried."""

    POSTERIOR = 0
    POSTERIOR_RESET = 1
    DENOISED = 2
    DENOISED_RESET = 3
    PRIOR = 4


Transitions = Literal["paper", "reference", "keep"]


def next_stage(stage: Stage, c1: bool, c2: bool, c3: bool, transitions: Transitions) -> tuple[Stage, Source]:
    """One cell of the table.

    `paper`: accepted frames, denoised or not, keep the context; it is reset only when predictive mode ends.
    `reference`: the published code, where anything but a clean frame leads to a reset at the next clean one, and a
    denoised frame is accepted from stage 0 only if it also fits the context.
    `keep`: ours, as `paper` but the context is never reset: what was predicted stays the prior of the next frame.
    """
    if transitions in ("paper", "keep"):
        predicting = stage in (Stage.PREDICTING, Stage.STILL_PREDICTING)
        reset = predicting and transitions == "paper"
        if c1:
            return Stage.CLEAN, Source.POSTERIOR_RESET if reset else Source.POSTERIOR
        if c2:
            return (Stage.DENOISED_RESET, Source.DENOISED_RESET) if reset else (Stage.DENOISED, Source.DENOISED)
        return Stage.STILL_PREDICTING if predicting else Stage.PREDICTING, Source.PRIOR
    clean = stage == Stage.CLEAN
    if c1:
        return Stage.CLEAN, Source.POSTERIOR if clean else Source.POSTERIOR_RESET
    if c2 and c3:
        return Stage.DENOISED if clean else Stage.DENOISED_AGAIN, Source.DENOISED
    if c2 and not clean:
        return Stage.DENOISED_RESET, Source.DENOISED_RESET
    return Stage.PREDICTING if clean else Stage.STILL_PREDICTING, Source.PRIOR


def transition_table(transitions: Transitions) -> Tensor:
    """All cells as (6 stages, 2, 2, 2, [new stage, source]), for looking up many rows at once."""
    if transitions not in get_args(Transitions):
        raise ValueError(f"unknown transitions {transitions!r}; choose from {', '.join(get_args(Transitions))}")
    table = torch.zeros(len(Stage), 2, 2, 2, 2, dtype=torch.long)
    for stage in Stage:
        for code in range(8):
            c1, c2, c3 = code >> 2 & 1, code >> 1 & 1, code & 1
            cell = next_stage(stage, bool(c1), bool(c2), bool(c3), transitions)
            table[stage, c1, c2, c3] = torch.tensor(cell)
    return table
