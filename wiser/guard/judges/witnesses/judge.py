"""Ours: sensors are judged by what they themselves showed before, and by who shows things first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.judges.judge import Evidence, Meter
from wiser.guard.judges.witnesses.bank import Bank
from wiser.guard.judges.witnesses.court import Court
from wiser.guard.judges.witnesses.norms import ALARM, LATE, MEAN, OWN, STILL, TOTAL, reference, statistics
from wiser.guard.judges.witnesses.streams import Streams
from wiser.guard.judges.witnesses.usual import Usual, accumulate, average, remember
from wiser.worldmodel.protocol import WorldModel

_CPU = torch.device("cpu")
RESCUES = ("witness", "reset", "keep")


@dataclass(frozen=True)
class Witnesses:
    """Ours: a sensor is suspected if it does not follow from what it showed before, is late, or stands still.

    Every sensor has a belief of its own, which no other sensor can colour: its witness. A majority that is wrong in a
    plausible way captures the belief they all share, and then the sound sensor is the surprising one; the witnesses
    notice. If stale sensors have led the shared belief away from what is trusted, that of the witness that fits best is
    taken over.
    """

    false_alarms: float = 20.0
    """Of 1,000 readings of a sound sensor, how many are suspected."""
    lasting: bool = True
    """Whether what speaks against a sensor adds up over time."""
    streams: bool = True
    """Whether sensors are compared with what others showed before: who is late, who stands still."""
    rescue: str = "witness"
    """What becomes of a shared belief that does not fit what is trusted, once stale sensors may have led it astray:
    that of the `witness` that fits best replaces it, it begins anew (`reset`), or it stays (`keep`)."""
    useful: float | None = 0.6
    """What a suspected sensor must have in common with those that are not, as a share of what is usual, to be used all
    the same, unless it shows the past. None uses no suspected sensor."""
    parole: int = 10
    """Steps under suspicion after which that is considered."""
    recover: float = 0.5
    """Share of the evidence at which suspicion ends."""
    past: int = 32
    """Steps that streams are compared over."""
    fade: float = 0.04
    """Share of the newest step in what streams have in common."""
    near: int = 3
    """Steps of delay from which on a stream is late."""
    required: tuple[str, ...] = ()
    """Sensors that are never masked while healthy."""
    needs: ClassVar[tuple[str, ...]] = ("surprise", OWN)

    def __post_init__(self) -> None:
        if not 0.0 < self.false_alarms < 1000.0:
            raise ValueError(f"false_alarms are between 0 and 1000 in 1,000 readings, got {self.false_alarms}")
        if not 0 < self.near < self.past:
            raise ValueError(f"near must be at least 1 and below past, got near={self.near}, past={self.past}")
        if self.rescue not in RESCUES:
            raise ValueError(f"rescue must be one of {', '.join(RESCUES)}, got {self.rescue!r}")

    def measure(self, model: WorldModel, rows: int) -> Meter:
        """Watch clean steps."""
        names = [sensor.name for sensor in model.sensors]
        bank, streams = Bank(model, rows), self.compare(model, rows)

        def meter(evidence: Evidence) -> dict[str, Tensor]:
            told = bank.hear(evidence)
            everyone = torch.ones_like(evidence.healthy)
            none = torch.zeros_like(told.nats)
            return statistics(names, told, streams.compare(told.shown, told.groups, evidence.begin, everyone, none))

        return meter

    def conclude(
        self, calibration: Calibration, frames: Mapping[str, NDArray[Any]], begin: NDArray[np.bool_]
    ) -> dict[str, NDArray[Any]]:
        """What evidence adds up to on clean runs, and the alarm it gives, now that it is known what is usual."""
        names = [name.removeprefix(f"{OWN}/") for name in frames if name.startswith(f"{OWN}/")]
        first = torch.from_numpy(begin)[..., None]  # (T, B, 1)

        def nats(kind: str, source: Calibration, at: bool = False) -> Tensor:
            usual = Usual(source, [f"{kind}/{name}" for name in names], _CPU, at)
            seen = torch.from_numpy(np.stack([frames[f"{kind}/{name}"] for name in names], -1))  # (T, B, N)
            return usual.nats(seen.float().flatten(0, 1)).view(seen.shape)

        now = torch.where(first, nats(OWN, calibration, True), nats(OWN, calibration))
        found = _named(MEAN, names, _run(now, first, average))
        limit = reference(Calibration.of({name: values[~begin] for name, values in found.items()}), names, _CPU)
        found |= _named(TOTAL, names, _run(now, first, lambda total, evidence: accumulate(total, evidence, limit)))
        frames = {**frames, **found}
        later = Calibration.of({name: values[~begin] for name, values in found.items()})
        calibration = replace(calibration, scores={**calibration.scores, **later.scores})
        worst = torch.stack([now, *(nats(kind, calibration) for kind in (TOTAL, LATE, STILL))]).amax(0)
        alarms = _run(worst, first, lambda alarm, evidence: remember(alarm, evidence, self.recover))
        return found | _named(ALARM, names, alarms)

    def compare(self, model: WorldModel, rows: int) -> Streams:
        """Streams of the model's sensors with these settings."""
        return Streams(rows, len(model.sensors), self.past, self.fade, self.near)

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> Court:
        """Look up what is usual."""
        if calibration is None:
            raise ValueError("judge 'witnesses' needs a calibration: calibration.json beside the weights, written "
                             "by `calibrate`, or calibration=...")  # fmt: skip
        return Court(self, model, rows, calibration)


def _run(nats: Tensor, first: Tensor, step: Any) -> Tensor:
    """Carry something over the steps of (T, B, N), from 0 at each beginning (T, B, 1)."""
    carried, found = torch.zeros_like(nats[0]), []
    for evidence, begins in zip(nats, first, strict=True):
        carried = step(torch.where(begins, 0.0, carried), evidence)
        found.append(carried)
    return torch.stack(found)


def _named(kind: str, names: list[str], values: Tensor) -> dict[str, NDArray[Any]]:
    return {f"{kind}/{name}": values[..., i].numpy() for i, name in enumerate(names)}
