"""What sensors show, compared over time: who is late, who stands still, and who agrees.

A stale stream resembles what others showed some steps ago better than what they show now. Lead and lag between two
streams have a sign, so one fresh sensor convicts any number of stale ones.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_AGREE = 0.1  # how fast agreement follows what is shown
_NONE = -1.0  # lateness where there is nobody to be behind


class Compared(NamedTuple):
    """How each sensor's stream stands to the others."""

    late: Tensor  # (B, N): how much better it fits another's past than that one fits its own past
    delay: Tensor  # (B, N) steps: at which it fits that other sensor best
    still: Tensor  # (B, N): how much more it stays as it was than the one that changes most does
    agreement: Tensor  # (B, N, N): how much n has shown what m shows, lately or since it is held


class Streams:
    """Remembers what each sensor showed in the last `past` steps; constant work a step.

    What a sensor shows is its reading's posterior from no context at all, S groups of probabilities: one language for
    all kinds of sensors. Two of them overlap by the probability that samples of both are equal, averaged over groups.
    """

    def __init__(self, rows: int, count: int, past: int, fade: float, near: int) -> None:
        """Overlaps are averaged with rate `fade`, from 0 on; less than `near` steps ago counts as now."""
        self.past, self.fade, self.near = past, fade, near
        self.others = ~torch.eye(count, dtype=torch.bool)
        self.back = torch.arange(past)[:, None]  # (K, 1)
        self.age = torch.zeros(rows, dtype=torch.long)  # steps since each row began
        self.youngest = 0  # the least of them
        self.at = 0  # where in `shown` the present step is
        self.shown: Tensor | None = (
            None  # (B, 2 K, N, S * C), twice: from `at` on is what was shown 0, 1, ... steps ago
        )
        self.overlap = torch.zeros(rows, count, past, count)  # (B, N, K, N): of sensor n now with m k steps ago
        self.agreement = torch.zeros(rows, count, count)

    def compare(self, shown: Tensor, groups: int, begin: Tensor, credible: Tensor, held: Tensor) -> Compared:
        """Take in what each sensor shows, (B, N, S * C). Only `credible` sensors (B, N) can convict others.

        What a sensor agreed with before it was suspected says nothing about it now: where it has been `held` for some
        steps (B, N), its agreement is the mean since then.
        """
        now = self._overlaps(shown) / groups  # (B, N, K, N)
        self._grow_older(begin)
        changed = self.overlap + self.fade * (now - self.overlap)
        self.overlap = changed if self.youngest >= self.past else torch.where(self._known(), changed, self.overlap)
        rate = torch.where(held > 0, 1.0 / held, _AGREE).clamp(min=_AGREE)[..., None]  # (B, N, 1)
        agreement = self.agreement + rate * (now[:, :, 0] - self.agreement)
        self.agreement = agreement if self.youngest else torch.where(begin[:, None, None], now[:, :, 0], agreement)
        late, delay = self._lateness(credible)
        return Compared(late, delay, self._stillness(credible), self.agreement)

    def _overlaps(self, shown: Tensor) -> Tensor:
        """Sums over all groups, of each sensor now with each k steps ago: (B, N, K, N)."""
        if self.shown is None:
            self.shown = shown.new_zeros(len(shown), 2 * self.past, *shown.shape[1:])
            for name in ("others", "back", "age", "overlap", "agreement"):
                setattr(self, name, getattr(self, name).to(shown.device))
        self.at = (self.at - 1) % self.past
        self.shown[:, self.at :: self.past] = shown[:, None]
        before = self.shown[:, self.at : self.at + self.past].flatten(1, 2)  # (B, K * N, S * C)
        return (shown @ before.mT).unflatten(2, (self.past, -1))

    def _grow_older(self, begin: Tensor) -> None:
        """Count a step; what rows that begin had in common before is forgotten."""
        self.age, self.youngest = self.age + 1, self.youngest + 1
        if bool(begin.any()):
            self.age, self.youngest = self.age.masked_fill(begin, 0), 0
            self.overlap = self.overlap.masked_fill(begin[:, None, None, None], 0.0)

    def _known(self) -> Tensor:
        """Whether a row had begun by then, (B, 1, K, 1)."""
        return (self.back <= self.age).T[:, None, :, None]

    def _lateness(self, credible: Tensor) -> tuple[Tensor, Tensor]:
        before, at = self.overlap[:, :, self.near :].max(2)  # (B, N, N)
        behind = before - self.overlap[:, :, : self.near].amax(2)  # n is behind m
        others = credible[:, None] & self.others
        late, other = (behind - behind.mT).masked_fill(~others, _NONE).max(2)  # (B, N)
        return late, at.gather(2, other[..., None])[..., 0] + self.near

    def _stillness(self, credible: Tensor) -> Tensor:
        itself = self.overlap.diagonal(dim1=1, dim2=3)  # (B, K, N)
        kept = itself.mean(1) / itself[:, 0].clamp(min=1e-6)  # (B, N): 1 where nothing ever changes
        return kept - torch.where(credible, kept, torch.inf).amin(1, keepdim=True).minimum(kept)
