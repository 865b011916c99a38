"""What the guard says about each step: what the cockpit draws, the ledger stores and an engineer logs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any


class Mode(IntEnum):
    """What the belief of this step rests on."""

    GROUNDED = 0  # at least one trusted sensor
    DENOISED = 1  # a repaired observation
    PREDICTIVE = 2  # nothing but the model's own prediction
    FALLBACK = 3  # predictive for longer than is safe


class Level(IntEnum):
    """How a sensor is: the diagnosis, as robots' diagnostics have it. What is done about it says `trusted`."""

    OK = 0  # nothing speaks against it
    WARN = 1  # what it shows at this step cannot be believed
    ERROR = 2  # it gives no reading of use, or has been wrong for some time
    STALE = 3  # it shows the past


ROWS_SHOWN = 8
"""Of a batch, when it is printed."""


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """One step's decision. For a batch every field has a leading row axis; `verdict.row(i)` is one environment's.

    Arrays are numpy or torch, as the observation was. It prints as a line, or as one for each row.
    """

    sensors: tuple[str, ...]
    """Names of the columns of `trusted` and `healthy`."""
    mode: Any
    """`Mode`, or (B,) of its values."""
    trusted: Any
    """(N,) or (B, N) bool: the sensors the belief was inferred from."""
    healthy: Any
    """(N,) or (B, N) bool: the sensors that passed the health checks."""
    level: Any
    """(N,) or (B, N) values of `Level`. A sensor may be broken and trusted: half a picture is better than none."""
    delay: Any
    """(N,) or (B, N) steps by which a sensor is late; 0 where that is not known."""
    reasons: Any
    """{sensor: what is wrong with it} of those that are not trusted, or not OK; or a list of those."""
    surprise: Any
    """KL[posterior || prior] in nats of what was judged, accepted or not: float or (B,); NaN if nothing was."""
    scores: dict[str, Any]
    """Further scores by name, each (B,) or (B, N) (without B for one environment); NaN where not measured."""
    blind_steps: Any
    """Steps since a sensor was last trusted: int or (B,)."""
    reset: Any
    """Whether the context was reset at this step: bool or (B,)."""

    @property
    def trusted_sensors(self) -> Any:
        """Names of the trusted sensors: a tuple, or a list with one for each row."""
        if self.trusted.ndim > 1:
            return [self._names(row) for row in self.trusted]
        return self._names(self.trusted)

    def row(self, index: int) -> Verdict:
        """Return the verdict on one environment of a batch."""
        return replace(
            self,
            mode=Mode(int(self.mode[index])),
            trusted=self.trusted[index],
            healthy=self.healthy[index],
            level=self.level[index],
            delay=self.delay[index],
            reasons=self.reasons[index],
            surprise=float(self.surprise[index]),
            scores={name: value[index] for name, value in self.scores.items()},
            blind_steps=int(self.blind_steps[index]),
            reset=bool(self.reset[index]),
        )

    def __repr__(self) -> str:
        if self.trusted.ndim == 1:
            return self._line()
        rows = len(self.trusted)
        lines = [f"row {index}: {self.row(index)}" for index in range(min(rows, ROWS_SHOWN))]
        return "\n".join(lines + [f"... and {rows - ROWS_SHOWN} rows more"] * (rows > ROWS_SHOWN))

    def _line(self) -> str:
        trusted = f"{len(self.trusted_sensors)} of {len(self.sensors)} sensors trusted"
        blind = f", {self.blind_steps} steps blind" if self.blind_steps > 1 else ""
        alike = {
            reason: [name for name, why in self.reasons.items() if why == reason] for reason in self.reasons.values()
        }
        why = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in alike.items())
        return f"{self.mode.name}, {trusted}{blind}" + (f" ({why})" if why else "")

    def _names(self, trusted: Any) -> tuple[str, ...]:
        """Of the sensors that `trusted` (N,) is true for."""
        return tuple(name for name, good in zip(self.sensors, trusted, strict=True) if bool(good))
