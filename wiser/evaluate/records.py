"""What a sweep is made of: cells, named by their content, and the episodes that ran in them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from math import isfinite
from operator import index as whole
from types import NoneType
from typing import Any, get_args, get_type_hints

from wiser.evaluate.detection import Detection

VERSION = 2
"""Of the records below. A ledger of another version is refused, for its keys would not mean the same."""
KEYS = 1
"""Of the way cells are named."""
DECIMALS = 6
TIMING = "seconds"
"""The one column that may differ between two runs of the same cell."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell of a sweep. Equal content is the same cell, whoever asks for it."""

    task: str
    agent: str
    """Name and digest of the weights."""
    method: str
    treatment: str = ""
    """Digest of the method's settings and of the calibration they use; cells of earlier releases do not know it."""
    fault: str
    intensity: float
    proportion: float
    """Share of the steps, or of the frames, that are affected."""
    failures: int
    """Number of sensors that fail."""
    onset: int = 0
    """First step at which anything is broken."""
    seed: int
    steps: int
    """Budget of environment steps."""

    def __post_init__(self) -> None:
        for name in ("failures", "onset", "seed", "steps"):
            object.__setattr__(self, name, whole(getattr(self, name)))
        for name in ("intensity", "proportion"):
            # A grid by `linspace`, in 32 bits or by hand names the same cells; adding 0.0 takes the sign off zero.
            object.__setattr__(self, name, round(_finite(name, getattr(self, name)), DECIMALS) + 0.0)

    @property
    def key(self) -> str:
        """Hex digest of the content: the same in every process and on every machine."""
        content = {name: value for name, value in vars(self).items() if name != "treatment" or value}
        text = json.dumps({"version": KEYS, **content}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One episode, finished or cut off by the step budget. None where the task or the method has no such thing."""

    index: int
    env_seed: int
    fault_seed: int
    failed: tuple[str, ...]
    """Sensors that fail in this episode."""
    score: float
    length: int
    complete: bool
    """False if the step budget cut it off."""
    cost: float | None = None
    success: bool | None = None
    collision: bool | None = None
    grounded: float | None = None
    """Share of the steps in this mode of the guard; so are the next three."""
    denoised: float | None = None
    predictive: float | None = None
    fallback: float | None = None
    detection: Detection | None = None
    seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        for name in ("index", "env_seed", "fault_seed", "length"):
            object.__setattr__(self, name, whole(getattr(self, name)))
        for name in ("score", "cost", "grounded", "denoised", "predictive", "fallback", TIMING):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, _finite(name, value))

    def to_row(self) -> dict[str, Any]:
        """Plain values by column; what has structure becomes JSON."""
        detection = None if self.detection is None else self.detection.to_json()
        return vars(self) | {"failed": json.dumps(self.failed), "detection": detection}

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Episode:
        """The inverse of `to_row`; truth values may be 0 and 1, as SQLite keeps them."""
        flags = {name: None if row[name] is None else bool(row[name]) for name in ("complete", "success", "collision")}
        detection = None if row["detection"] is None else Detection.from_json(row["detection"])
        return cls(**row | flags | {"failed": tuple(json.loads(row["failed"])), "detection": detection})


def columns(record: type[Cell] | type[Episode]) -> dict[str, type]:
    """Columns of `record` and the plain type of each."""
    return {name: _plain(hint) for name, hint in get_type_hints(record).items()}


def _plain(hint: Any) -> type:
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    return kinds[0] if kinds[0] in (bool, int, float) else str


def _finite(name: str, value: float) -> float:
    if not isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return float(value)
