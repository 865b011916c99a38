"""Layer 3 for several sensors: which of them to trust at this step. Every decision is per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.draws import RowDraws
from wiser.guard.look import Look
from wiser.guard.subsets import every_subset
from wiser.worldmodel.protocol import Sensor, WorldModel


class Choice(NamedTuple):
    """The chosen subset of each row. Rows without a usable candidate have an infinite surprise."""

    mask: Tensor  # (B, N) bool
    logprobs: Tensor  # (B, S, C) posterior of that subset
    surprise: Tensor  # (B,)
    scores: dict[str, Tensor]  # what else was measured on the way, (B,) or (B, N)
    reason: str = "more surprising than without it"  # why a healthy sensor was left out


class Selector(Protocol):
    """Chooses among the healthy sensors, for the rows of one guard. May remember what it saw."""

    def select(self, look: Look, healthy: Tensor, begin: Tensor, draws: RowDraws) -> Choice:
        """`healthy` is (B, N): never trust outside it. `begin` (B,) marks rows that start an episode."""


class Selection(Protocol):
    """Settings of a way to select. One object may serve many guards: state belongs to what `start` returns."""

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> Selector:
        """Check the settings against the model and give a guard its own selector."""


class Stateless:
    """A selection that remembers nothing: its settings are its selector."""

    required: tuple[str, ...] = ()

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> Any:
        """Check the names of required sensors."""
        required_columns(self.required, model.sensors)
        return self


def least_surprising(look: Look, masks: Tensor, valid: Tensor) -> Choice:
    """Infer every candidate (B, K, N) in one batch and take the first of the least surprising valid ones (B, K)."""
    logprobs, nats = look.infer(masks)
    return _argmin(masks, logprobs, torch.where(valid, nats, torch.inf), {})


def _argmin(masks: Tensor, logprobs: Tensor, nats: Tensor, scores: dict[str, Tensor]) -> Choice:
    rows = torch.arange(masks.shape[0], device=masks.device)
    best = nats.argmin(1)  # (B,); the first on ties
    return Choice(masks[rows, best], logprobs[rows, best], nats[rows, best], scores)


def required_columns(required: tuple[str, ...], sensors: tuple[Sensor, ...]) -> Tensor:
    """(N,) bool of the sensors that selection must not mask."""
    names = [sensor.name for sensor in sensors]
    if isinstance(required, str):
        raise ValueError(f"required is a tuple of names, not the text {required!r}")
    if unknown := set(required) - set(names):
        raise ValueError(f"required sensors {sorted(unknown)} are unknown; the model has {names}")
    return torch.tensor([name in required for name in names])


@dataclass(frozen=True)
class NoSelection(Stateless):
    """Trust every healthy sensor: the unguarded agent."""

    def select(self, look: Look, healthy: Tensor, begin: Tensor, draws: RowDraws) -> Choice:
        """Return the full healthy set."""
        return least_surprising(look, healthy[:, None], healthy.any(1, keepdim=True))


@dataclass(frozen=True)
class Greedy(Stateless):
    """Algorithm 2: each sensor alone, then mask cumulatively in order of decreasing surprise; least surprise wins."""

    depth: int | None = 1
    """How many sensors to mask cumulatively. 1 as in the published code; 0 = only compare single sensors; None = all
    of them, where the last candidate trusts nothing: a set that Algorithm 1 never trains, and tempting because it
    cannot contradict the prediction."""
    include_full: bool = True
    """Whether the unmasked observation competes too, as in Eq. 4 and the published code; the algorithm box omits it."""
    required: tuple[str, ...] = ()
    """Sensors that are never masked while healthy."""

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 0:
            raise ValueError(f"depth must be at least 0 or None, got {self.depth}")

    def select(self, look: Look, healthy: Tensor, begin: Tensor, draws: RowDraws) -> Choice:
        """Return the least surprising of at most 2 N + 1 candidates."""
        sensors = healthy.shape[1]
        always = required_columns(self.required, look.model.sensors).to(healthy.device)  # (N,)
        free = healthy & ~always  # (B, N) what may be masked
        kept = (healthy & always)[:, None]  # (B, 1, N)
        alone = (torch.eye(sensors, dtype=torch.bool, device=healthy.device) & free[:, :, None]) | kept  # (B, N, N)
        alone_logprobs, alone_nats = look.infer(alone)
        alone_nats = torch.where(free, alone_nats, torch.inf)

        # Rank free sensors from most to least surprising, behind them the ones that cannot be masked. A sensor whose
        # surprise is undefined ranks as most surprising.
        order = torch.where(free, alone_nats, -torch.inf).argsort(dim=1, descending=True, stable=True)
        rank = order.argsort(1)[:, None]  # (B, 1, N)
        depth = sensors if self.depth is None else min(self.depth, sensors)
        steps = torch.arange(1, depth + 2, device=healthy.device) % (depth + 1)  # 1..depth, then 0: the full set
        masks = healthy[:, None] & ((rank >= steps[:, None]) | ~free[:, None])  # (B, depth + 1, N)
        possible = (steps <= free.sum(1, keepdim=True)) & healthy.any(1, keepdim=True)  # (B, depth + 1)
        if not self.include_full:
            possible[:, -1] &= ~free.any(1)  # with nothing to mask, the full set is all there is
        logprobs, nats = look.infer(masks)
        nats = torch.where(possible, nats, torch.inf)
        return _argmin(
            torch.cat([alone, masks], 1),
            torch.cat([alone_logprobs, logprobs], 1),
            torch.cat([alone_nats, nats], 1),
            {"isolated_surprise": alone_nats},
        )


@dataclass(frozen=True)
class Exhaustive(Stateless):
    """All 2^N subsets, the empty one included: the paper's upper bound, in one batch."""

    required: tuple[str, ...] = ()
    """Sensors that are never masked while healthy."""

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> Any:
        """Also refuse more sensors than can be searched."""
        every_subset(len(model.sensors))
        return super().start(model, rows, calibration)

    def select(self, look: Look, healthy: Tensor, begin: Tensor, draws: RowDraws) -> Choice:
        """Return the least surprising subset."""
        subsets = every_subset(healthy.shape[1]).to(healthy.device)  # (2^N, N)
        always = required_columns(self.required, look.model.sensors).to(healthy.device)
        keeps_required = (subsets | ~(healthy & always)[:, None]).all(2)  # (B, 2^N)
        within = (~subsets | healthy[:, None]).all(2)  # no repeats: subsets of the healthy sensors only
        valid = keeps_required & within & healthy.any(1, keepdim=True)
        return least_surprising(look, subsets.expand(healthy.shape[0], -1, -1), valid)


@dataclass(frozen=True)
class Calibrated:
    """Ours: every sensor whose surprise, alone, is usual for it; if none is, the one that exceeds its own by least.

    Sensors are not compared with each other but with their own clean runs, so nothing is masked without a reason.
    """

    level: float = 0.999
    """Share of clean steps at which a sensor counts as usual."""
    required: tuple[str, ...] = ()
    """Sensors that are never masked while healthy."""

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> CalibratedSelector:
        """Look up what is usual for each sensor."""
        if calibration is None:
            raise ValueError("selection 'calibrated' needs a calibration: calibration.json beside the weights, written "
                             "by `calibrate`, or calibration=...")  # fmt: skip
        names = [f"isolated_surprise/{sensor.name}" for sensor in model.sensors]
        limits = torch.tensor(
            [[calibration.quantile(name, self.level, begin) for name in names] for begin in (False, True)]
        )
        device = model.initial(1).deter.device
        return CalibratedSelector(limits.to(device), required_columns(self.required, model.sensors).to(device))


@dataclass(frozen=True)
class CalibratedSelector:
    """Compares every sensor with its limit."""

    limits: Tensor  # (2, N) nats: later in an episode, and at its beginning
    required: Tensor  # (N,) bool

    def select(self, look: Look, healthy: Tensor, begin: Tensor, draws: RowDraws) -> Choice:
        """Return the healthy sensors within their limits, or the one that is nearest to its own."""
        rows, sensors = healthy.shape
        alone = torch.eye(sensors, dtype=torch.bool, device=healthy.device).expand(rows, -1, -1)
        nats = torch.where(healthy, look.infer(alone)[1], torch.inf)  # (B, N)
        excess = nats / self.limits[begin.long()].clamp(min=1e-6)
        usual = excess <= excess.amin(1, keepdim=True).clamp(min=1.0)
        chosen = least_surprising(look, (healthy & (usual | self.required))[:, None], healthy.any(1, keepdim=True))
        return chosen._replace(scores={"isolated_surprise": nats}, reason="more surprising than it usually is")


@dataclass(frozen=True)
class RandomMask(Stateless):
    """RME baseline: mask k ~ Uniform{0..N} random sensors, no surprise involved."""

    redraw: bool = True
    """Draw at every step, as intended; the published code drew once per run and kept that mask for all rows."""
    seed: int = 0
    """Decides the one mask when `redraw` is off."""

    def select(self, look: Look, healthy: Tensor, begin: Tensor, draws: RowDraws) -> Choice:
        """Return a random subset of the healthy sensors."""
        rows, sensors = healthy.shape
        if self.redraw:
            uniform = draws.uniform(sensors + 1)  # (B, N + 1)
        else:
            uniform = np.broadcast_to(np.random.default_rng(self.seed).random(sensors + 1), (rows, sensors + 1))
        masked = (uniform[:, :1] * (sensors + 1)).astype(np.int64)  # (B, 1) in 0..N
        keep = torch.from_numpy(uniform[:, 1:].argsort(1).argsort(1) >= masked).to(healthy.device)
        chosen = least_surprising(look, (healthy & keep)[:, None], healthy.any(1, keepdim=True))
        return chosen._replace(reason="masked at random")


SELECTIONS: dict[str, type[Selection]] = {
    "none": NoSelection,
    "greedy": Greedy,
    "exhaustive": Exhaustive,
    "calibrated": Calibrated,
    "random": RandomMask,
}


def selection_by_name(choice: str | Selection) -> Selection:
    """Resolve a name from `SELECTIONS`, or pass an object through."""
    if not isinstance(choice, str):
        return choice
    if choice not in SELECTIONS:
        raise ValueError(f"unknown selection {choice!r}; choose from {', '.join(SELECTIONS)} or pass an object")
    return SELECTIONS[choice]()
