"""Thresholds that follow what is judged: which sensors, and whether an episode begins."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from wiser.guard.calibration import Calibration


class Threshold:
    """tau of one score, for any set of sensors and apart for first frames, which nothing can have led one to expect."""

    def __init__(self, whole: Tensor, alone: Tensor | None = None) -> None:
        self.whole = whole  # (2,): of all sensors, later in an episode and at its beginning
        self.alone = alone  # (2, N): of each sensor by itself

    @classmethod
    def fixed(cls, tau: float, device: torch.device) -> Threshold:
        """One number for everything."""
        return cls(torch.full((2,), tau, device=device))

    @classmethod
    def calibrated(
        cls, calibration: Calibration, score: str, alone: Sequence[str], k: float, device: torch.device
    ) -> Threshold:
        """Mean + `k` standard deviations on clean runs; `alone` is what the score is called for each single sensor."""
        whole = torch.tensor([calibration.tau(score, k, begin) for begin in (False, True)], device=device)
        if not alone or not all(name in calibration.scores for name in alone):
            return cls(whole)
        taus = [[calibration.tau(name, k, begin) for name in alone] for begin in (False, True)]
        return cls(whole, torch.tensor(taus, device=device))

    def of(self, mask: Tensor, begin: Tensor) -> Tensor:
        """(B,) for the sensors in use (B, N), in rows that begin an episode (B,) or not.

        Exact for a single sensor and for all of them, which is what was calibrated; in between it goes straight from
        the mean of the single ones to that of all.
        """
        kind = begin.long()
        if self.alone is None or mask.shape[1] == 1:
            return self.whole[kind]
        alone = self.alone[kind]  # (B, N)
        count = mask.sum(1).clamp(min=1)
        single = torch.where(mask, alone, 0.0).sum(1) / count  # (B,)
        more = (count - 1) / (mask.shape[1] - 1)  # 0 for one sensor, 1 for all
        return single + more * (self.whole[kind] - alone.mean(1))
