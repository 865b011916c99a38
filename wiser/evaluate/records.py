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

VERSION = 3
"""Of the records below. A ledger of another version is refused, for its keys would not mean the same."""
DECIMALS = 6
TIMING = "seconds"
"""The one column that may differ between two runs of the same cell."""
CLEAN = "none"
"""The disturbance of a cell in which nothing is disturbed."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell of a sweep. Equal content is the same cell, whoever asks for it."""

    task: str
    """Name of a task, or a Gymnasium id."""
    contender: str
    """What figures call the agent with its treatment."""
    agent: str
    """Name or folder, which training run of it if there are several, and digest: `stop-sign/dropout#2@1234`."""
    treatment: str
    """Name, and digest of its settings and of the calibration they use: `greedy@1234`."""
    disturbance: str
    """What is wrong, or `none`."""
    intensity: float
    proportion: float
    """Share of the steps, or of the frames, that are affected."""
    failures: int
    """Number of sensors that fail."""
    onset: int = 0
    """First step at which anything is wrong."""
    seed: int
    """Of a plan: it stands for episodes of its own."""
    episodes: int
    """How many are driven."""
    options: str = ""
    """Of the environment, as JSON; empty if there are none."""

    def __post_init__(self) -> None:
        for name in ("failures", "onset", "seed", "episodes"):
            object.__setattr__(self, name, whole(getattr(self, name)))
        for name in ("intensity", "proportion"):
            # A grid by `linspace`, in 32 bits or by hand names the same cells; adding 0.0 takes the sign off zero.
            object.__setattr__(self, name, round(_finite(name, getattr(self, name)), DECIMALS) + 0.0)

    @property
    def clean(self) -> bool:
        """Whether nothing is disturbed."""
        return self.disturbance == CLEAN

    @property
    def run(self) -> int:
        """Which training run the agent comes from; 0 where there is only one."""
        _, _, run = self.agent.rpartition("@")[0].rpartition("#")
        return int(run) if run.isdecimal() else 0

    @property
    def key(self) -> str:
        """Hex digest of the content: the same in every process and on every machine."""
        text = json.dumps({"version": VERSION, **vars(self)}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One episode, from its beginning to its end."""

    index: int
    env_seed: int
    fault_seed: int
    failed: tuple[str, ...]
    """Sensors that fail in this episode."""
    score: float
    length: int
    outcome: str
    """How it ended, in a word or two."""
    measures: dict[str, float] = field(default_factory=dict)
    """What else it is judged by, as its domain declares: success, collision, cost, ... Flags are 0 or 1."""
    modes: dict[str, float] = field(default_factory=dict)
    """Share of the steps in each mode of the guard, by name; modes it was never in are left out."""
    detection: Detection | None = None
    seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        for name in ("index", "env_seed", "fault_seed", "length"):
            object.__setattr__(self, name, whole(getattr(self, name)))
        for name in ("score", TIMING):
            object.__setattr__(self, name, _finite(name, getattr(self, name)))
        for group in ("measures", "modes"):
            numbers = {name: _finite(name, value) for name, value in sorted(getattr(self, group).items())}
            object.__setattr__(self, group, numbers)

    def value(self, measure: str) -> float | None:
        """The score, the length, or a measure by name; None if this episode has no such thing."""
        return float(getattr(self, measure)) if measure in ("score", "length") else self.measures.get(measure)

    def to_row(self) -> dict[str, Any]:
        """Plain values by column; what has structure becomes JSON."""
        structured = {name: json.dumps(getattr(self, name)) for name in ("failed", "measures", "modes")}
        return vars(self) | structured | {"detection": None if self.detection is None else self.detection.to_json()}

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Episode:
        """The inverse of `to_row`."""
        structured = {name: json.loads(row[name]) for name in ("measures", "modes")}
        detection = None if row["detection"] is None else Detection.from_json(row["detection"])
        return cls(**row | structured | {"failed": tuple(json.loads(row["failed"])), "detection": detection})


def columns(record: type[Cell] | type[Episode]) -> dict[str, type]:
    """Columns of `record` and the plain type of each."""
    return {name: _plain(hint) for name, hint in get_type_hints(record).items()}


def _plain(hint: Any) -> type:
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    return kinds[0] if kinds[0] in (int, float) else str


def _finite(name: str, value: float) -> float:
    if not isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return float(value)
