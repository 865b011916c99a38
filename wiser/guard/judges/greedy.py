"""Algorithm 2 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.judges.candidates import pick, required_columns
from wiser.guard.judges.judge import Evidence, Ruling
from wiser.worldmodel.protocol import WorldModel


@dataclass(frozen=True)
class Greedy:
    """Algorithm 2: each sensor alone, then mask cumulatively in order of decreasing surprise; least surprise wins."""

    depth: int | None = 1
    """How many sensors to mask cumulatively. 1 as in the published code; 0 = only compare single sensors; None = all
    of them, where the last candidate trusts nothing: a set that Algorithm 1 never trains, and tempting because it
    cannot contradict the prediction."""
    include_full: bool = True
    """Whether the unmasked observation competes too, as in Eq. 4 and the published code; the algorithm box omits it."""
    required: tuple[str, ...] = ()
    """Sensors that are never masked while healthy."""
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 0:
            raise ValueError(f"depth must be at least 0 or None, got {self.depth}")

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> GreedySearch:
        """Check the names of required sensors."""
        sensors = len(model.sensors)
        depth = sensors if self.depth is None else min(self.depth, sensors)
        return GreedySearch(depth, self.include_full, required_columns(self.required, model))


@dataclass(frozen=True)
class GreedySearch:
    """Remembers nothing from step to step."""

    depth: int
    include_full: bool
    required: Tensor  # (N,) bool

    def rule(self, evidence: Evidence) -> Ruling:
        """Trust the least surprising of at most 2 N + 1 candidates."""
        look, healthy = evidence.look, evidence.healthy
        free = healthy & ~self.required  # (B, N) what may be masked
        kept = (healthy & self.required)[:, None]  # (B, 1, N)
        alone = (look.alone & free[:, :, None]) | kept  # (B, N, N)
        alone_logprobs, alone_nats = look.infer(alone)
        alone_nats = torch.where(free, alone_nats, torch.inf)

        # Rank free sensors from most to least surprising, behind them the ones that cannot be masked. A sensor whose
        # surprise is undefined ranks as most surprising.
        order = torch.where(free, alone_nats, -torch.inf).argsort(dim=1, descending=True, stable=True)
        rank = order.argsort(1)[:, None]  # (B, 1, N)
        steps = torch.arange(1, self.depth + 2, device=healthy.device) % (self.depth + 1)  # 1..depth, then 0: all
        masks = healthy[:, None] & ((rank >= steps[:, None]) | ~free[:, None])  # (B, depth + 1, N)
        possible = (steps <= free.sum(1, keepdim=True)) & healthy.any(1, keepdim=True)  # (B, depth + 1)
        if not self.include_full:
            possible[:, -1] &= ~free.any(1)  # with nothing to mask, the full set is all there is
        logprobs, nats = look.infer(masks)
        nats = torch.where(possible, nats, torch.inf)
        ruling = pick(
            look,
            torch.cat([alone, masks], 1),  # (B, K, N)
            torch.cat([alone_logprobs, logprobs], 1),  # (B, K, S, C)
            torch.cat([alone_nats, nats], 1),  # (B, K)
            "more surprising than without it",
        )
        return ruling._replace(scores={"isolated_surprise": alone_nats})
