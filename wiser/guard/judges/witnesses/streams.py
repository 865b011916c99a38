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
        self.alone = torch.eye(count, dtype=torch.bool)
        self.back = torch.arange(past)
        self.age = torch.zeros(rows, dtype=torch.long)  # steps since each row began
        self.at = 0  # slot of the present step in `shown`
        self.shown: Tensor | None = None  # (K, B, N, S * C)
        self.overlap = torch.zeros(past, rows, count, count)  # of sensor n now with sensor m k steps ago
        self.agreement = torch.zeros(rows, count, count)

    def compare(self, shown: Tensor, groups: int, begin: Tensor, credible: Tensor, held: Tensor) -> Compared:
        """Take in what each sensor shows, (B, N, S * C). Only `credible` sensors (B, N) can convict others.

        What a sensor agreed with before it was suspected says nothing about it now: where it has been `held` for some
        steps (B, N), its agreement is the mean since then.
        """
        now = self._overlaps(shown, begin) / groups  # (K, B, N, N)
        fresh = begin[:, None, None]
        known = (self.back[:, None] <= self.age)[..., None, None]  # (K, B, 1, 1): the row had begun by then
        kept = torch.where(fresh, 0.0, self.overlap)
        self.overlap = torch.where(known, kept + self.fade * (now - kept), kept)
        rate = torch.where(held > 0, 1.0 / held, _AGREE).clamp(min=_AGREE)[..., None]  # (B, N, 1)
        self.agreement = torch.where(fresh, now[0], self.agreement + rate * (now[0] - self.agreement))
        late, delay = self._lateness(credible)
        return Compared(late, delay, self._stillness(credible), self.agreement)

    def _overlaps(self, shown: Tensor, begin: Tensor) -> Tensor:
        """Sums over all groups, of each sensor now with each k steps ago: (K, B, N, N)."""
        if self.shown is None:
            self.shown = shown.new_zeros(self.past, *shown.shape)
            for name in ("alone", "back", "age", "overlap", "agreement"):
                setattr(self, name, getattr(self, name).to(shown.device))
        self.at = (self.at + 1) % self.past
        self.shown[self.at] = shown
        self.age = torch.where(begin, 0, self.age + 1)
        return torch.einsum("bnd,kbmd->kbnm", shown, self.shown)[(self.at - self.back) % self.past]

    def _lateness(self, credible: Tensor) -> tuple[Tensor, Tensor]:
        before, now = self.overlap[self.near :], self.overlap[: self.near]
        behind = before.amax(0) - now.amax(0)  # (B, N, N): n is behind m
        others = credible[:, None] & ~self.alone
        late, other = (behind - behind.transpose(1, 2)).masked_fill(~others, _NONE).max(2)  # (B, N)
        delay = before.argmax(0) + self.near  # (B, N, N)
        return late, delay.gather(2, other[..., None])[..., 0]

    def _stillness(self, credible: Tensor) -> Tensor:
        itself = self.overlap.diagonal(dim1=2, dim2=3)  # (K, B, N)
        kept = itself.mean(0) / itself[0].clamp(min=1e-6)  # (B, N): 1 where nothing ever changes
        return kept - torch.where(credible, kept, torch.inf).amin(1, keepdim=True).minimum(kept)
