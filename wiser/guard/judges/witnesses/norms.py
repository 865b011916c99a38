"""What is usual for every sensor in each kind of evidence, as a calibration knows it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.judges.witnesses.bank import Testimony
from wiser.guard.judges.witnesses.streams import Compared
from wiser.guard.judges.witnesses.usual import Usual

OWN, MEAN, TOTAL, LATE, STILL = "own_surprise", "own_mean", "own_evidence", "lateness", "stillness"
ALARM, SAME = "alarm", "agreement"


class Suspicion(NamedTuple):
    """What speaks against each sensor (B, N), in nats: -log of the probability of as much on clean runs."""

    now: Tensor  # it does not follow from what it showed before
    lasting: Tensor  # and has not for some time
    late: Tensor
    still: Tensor

    @property
    def stale(self) -> Tensor:
        """It shows the past."""
        return torch.maximum(self.late, self.still)

    @property
    def worst(self) -> Tensor:
        """Whatever speaks most against it."""
        return torch.maximum(torch.maximum(self.now, self.lasting), self.stale)


class Norms:
    """Looks up what is usual."""

    def __init__(self, calibration: Calibration, names: Sequence[str], device: torch.device) -> None:
        def usual(kind: str, begin: bool = False) -> Usual:
            return Usual(calibration, [f"{kind}/{name}" for name in names], device, begin)

        self.own = (usual(OWN), usual(OWN, True))
        self.reference = reference(calibration, names, device)
        self.total, self.alarm = usual(TOTAL), usual(ALARM)
        self.streams = Usual(calibration, [f"{kind}/{name}" for kind in (LATE, STILL) for name in names], device)

    def now(self, own: Tensor, begin: Tensor) -> Tensor:
        """Nats (B, N) of own surprise; that of first frames has norms of its own."""
        later = self.own[0].nats(own)
        return torch.where(begin[:, None], self.own[1].nats(own), later) if bool(begin.any()) else later

    def stale(self, compared: Compared) -> tuple[Tensor, Tensor]:
        """Nats of lateness and of stillness, (B, N) each."""
        late, still = self.streams.nats(torch.cat([compared.late, compared.still], 1)).chunk(2, 1)
        return late, still


def reference(calibration: Calibration, names: Sequence[str], device: torch.device) -> Tensor:
    """(N,): what the evidence against a sound sensor reaches on average, in all but its worst stretches."""
    return torch.tensor([calibration.quantile(f"{MEAN}/{name}", 0.99) for name in names], device=device)


def median_agreement(calibration: Calibration, names: Sequence[str], device: torch.device) -> Tensor:
    """(N, N): how much any two sensors usually show the same; 1 of a sensor with itself."""
    same = torch.ones(len(names), len(names), device=device)
    for i, j in itertools.combinations(range(len(names)), 2):
        same[i, j] = same[j, i] = calibration.quantile(f"{SAME}/{names[i]}/{names[j]}", 0.5)
    return same


def statistics(names: Sequence[str], told: Testimony, compared: Compared) -> dict[str, Tensor]:
    """What a calibration records of a clean step, (B,) each."""
    found = {OWN: told.nats, LATE: compared.late, STILL: compared.still}
    by_sensor = {f"{kind}/{name}": value[:, i] for kind, value in found.items() for i, name in enumerate(names)}
    pairs = itertools.combinations(enumerate(names), 2)
    common = {f"{SAME}/{one}/{other}": compared.agreement[:, i, j] for (i, one), (j, other) in pairs}
    return {OWN: told.nats.amax(1), **by_sensor, **common}
