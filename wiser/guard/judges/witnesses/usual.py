"""How unlikely a score is on clean runs, in nats, and how such evidence adds up over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from wiser.guard.calibration import Calibration

MOST = 12.0
"""Nats of a single step that count: a flash must not be remembered for minutes."""
_LEAST_SLOPE = 1e-6  # of a score between two quantiles: a constant one still has an order


class Usual:
    """Turns scores of N sensors into -log of the probability of a clean score at least as high.

    Known quantiles are joined by lines; beyond the last of them the tail goes on as it came, exponentially. On clean
    runs the result is distributed as Exp(1).
    """

    def __init__(
        self, calibration: Calibration, names: Sequence[str], device: torch.device, begin: bool = False
    ) -> None:
        levels = [level for level in calibration.levels if level < 1.0]
        knots = [calibration.stats(name, begin).quantiles[: len(levels)] for name in names]
        scores = torch.tensor(knots, dtype=torch.float64)  # (N, Q)
        rise = torch.arange(len(levels), dtype=torch.float64) * _LEAST_SLOPE
        self.scores = (scores.cummax(1).values + rise).float().contiguous().to(device)
        self.nats_at = torch.tensor([-math.log1p(-level) for level in levels], device=device)  # (Q,)
        self.inner = self.scores[:, 1:-1].contiguous()  # (N, Q - 2): between them, and beyond them, is one line each
        starts, widths = self.scores[:, :-1], self.scores.diff()  # (N, Q - 1)
        bases, rises = (x.expand_as(starts) for x in (self.nats_at[:-1], self.nats_at.diff()))
        self.lines = torch.stack([starts, widths, bases, rises])  # (4, N, Q - 1)
        self.each = torch.arange(len(names), device=device)[:, None]  # (N, 1)

    def nats(self, score: Tensor) -> Tensor:
        """Of scores (B, N): (B, N) from 0 on."""
        values = score.T.contiguous()  # (N, B)
        line = torch.searchsorted(self.inner, values)
        start, width, base, rise = self.lines[:, self.each, line]  # (N, B) each
        return (base + rise * (values - start) / width).clamp(min=0.0).T

    def score(self, nats: float) -> Tensor:
        """The scores (N,) that are as unlikely as that; the inverse of `nats`."""
        right = int(torch.searchsorted(self.nats_at, torch.tensor(nats)).clamp(1, len(self.nats_at) - 1))
        low, high = self.scores[:, right - 1], self.scores[:, right]
        below, above = self.nats_at[right - 1], self.nats_at[right]
        return low + (high - low) * (nats - below) / (above - below)


def accumulate(total: Tensor, nats: Tensor, reference: Tensor | float) -> Tensor:
    """One step of a sequential test (CUSUM): the evidence so far, and -log of the p-value of one step more.

    What a sound sensor may reach for a while, the `reference`, is taken off, so that nothing adds up but what stays
    beyond that. Where sound steps are independent and their nats as Exp(1), a share (1 - r) exp(-r h) of the totals
    exceeds h > 0, with r such that 1 - r = exp(-r reference). They are not quite, so clean runs tell what is usual.
    """
    return (total + nats.clamp(max=MOST) - reference).clamp(min=0.0)


def average(mean: Tensor, nats: Tensor) -> Tensor:
    """A running mean of evidence over about twenty steps."""
    return mean + 0.05 * (nats.clamp(max=MOST) - mean)


def remember(alarm: Tensor, nats: Tensor, recover: float) -> Tensor:
    """The highest limit at which a sensor is under suspicion, given that before and what speaks against it now.

    Suspicion begins above a limit and ends where evidence has fallen to the share `recover` of it, whatever the limit.
    """
    return torch.maximum(nats, torch.minimum(alarm, nats / recover))
