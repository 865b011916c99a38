"""What breaks, when and how badly: a frozen description that fits into a YAML file."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any

import yaml

from wiser.faults.presets import PRESETS
from wiser.faults.registry import find

SCHEDULES = ("bernoulli", "contiguous")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A test of robustness. The same scenario breaks the same sensors at the same steps in the same way, always."""

    faults: tuple[str, ...]
    """Names of faults, applied in this order to each broken sensor."""
    sensors: tuple[str, ...] | int
    """Names of the sensors that break; or how many, drawn for each episode and the same throughout it."""
    intensity: float = 1.0
    """How badly; 0 is clean, 1 severe."""
    onset: int = 0
    """First step at which anything breaks; the observation of `reset` is step 0."""
    proportion: float = 1.0
    """Share of the steps from onset on at which the sensors are broken."""
    schedule: str = "bernoulli"
    """`bernoulli`: each step is drawn by itself. `contiguous`: broken from onset on for one block of that length."""
    horizon: int | None = None
    """Length of an episode in steps; `contiguous` needs it to know what it takes a share of."""
    seed: int = 0
    """Seed of everything random in it."""
    preset: str = "default"
    """What intensity 1 means: a name from `PRESETS`."""

    def __post_init__(self) -> None:
        for name in ("faults", "sensors"):  # a name alone, or a list from YAML
            value = getattr(self, name)
            if isinstance(value, str | list):
                object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        self._check_what()
        self._check_when()

    def _check_what(self) -> None:
        _require(isinstance(self.faults, tuple) and self.faults, "faults must name at least one fault", self.faults)
        for fault in self.faults:
            find(fault)
        _require(len(set(self.faults)) == len(self.faults), "faults must be distinct", self.faults)
        if isinstance(self.sensors, tuple):
            named = self.sensors and all(isinstance(name, str) for name in self.sensors)
            _require(
                named and len(set(self.sensors)) == len(self.sensors), "sensors must be distinct names", self.sensors
            )
        else:
            _require(_is_int(self.sensors, 1), "sensors must be names or a number of at least 1", self.sensors)
        _require(_is_number(self.intensity) and self.intensity >= 0, "intensity must be a number >= 0", self.intensity)
        _require(self.preset in PRESETS, f"preset must be one of {', '.join(PRESETS)}", self.preset)

    def _check_when(self) -> None:
        _require(_is_int(self.onset, 0), "onset must be a whole number >= 0", self.onset)
        _require(_is_int(self.seed, 0), "seed must be a whole number >= 0", self.seed)
        inside = _is_number(self.proportion) and 0 <= self.proportion <= 1
        _require(inside, "proportion must be a number from 0 to 1", self.proportion)
        _require(self.schedule in SCHEDULES, f"schedule must be one of {', '.join(SCHEDULES)}", self.schedule)
        if self.horizon is not None:
            _require(_is_int(self.horizon, 1), "horizon must be a whole number >= 1", self.horizon)
            _require(self.horizon > self.onset, f"horizon must lie after the onset ({self.onset})", self.horizon)
        if self.schedule == "contiguous" and self.proportion < 1:
            _require(self.horizon is not None, "a contiguous proportion below 1 needs a horizon", self.horizon)

    @property
    def name(self) -> str:
        """Its faults, for ledgers and figures."""
        return " + ".join(self.faults)

    def apply(self, env: Any, row: int = 0) -> Any:
        """Break the sensors of an environment whose first row is the `row`-th of those that run side by side."""
        from wiser.faults.wrapper import SensorFaults  # the wrapper needs the scenario first

        return SensorFaults(env, self, row)

    def to_dict(self) -> dict[str, Any]:
        """The scenario as plain data, for YAML and JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Scenario":
        """The inverse of `to_dict`; fields left out have their defaults."""
        valid = [field.name for field in fields(cls)]
        _require(isinstance(data, Mapping), f"a scenario is a mapping with the keys {', '.join(valid)}", data)
        unknown = [str(key) for key in data if key not in valid]
        if unknown:
            raise ValueError(f"unknown key {', '.join(unknown)} in scenario; valid are {', '.join(valid)}")
        absent = [name for name in ("faults", "sensors") if name not in data]
        if absent:
            raise ValueError(f"a scenario must say which {' and '.join(absent)}")
        return cls(**data)

    def to_yaml(self) -> str:
        """The scenario as the text of a YAML file."""
        return str(yaml.safe_dump(self.to_dict(), sort_keys=False))

    @classmethod
    def from_yaml(cls, text: str) -> "Scenario":
        """The inverse of `to_yaml`."""
        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(f"the scenario is not valid YAML: {error}") from error
        return cls.from_dict(data)


def _require(condition: Any, message: str, value: Any) -> None:
    if not condition:
        raise ValueError(f"{message}, got {value!r}")


def _is_int(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
