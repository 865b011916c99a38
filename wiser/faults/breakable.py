"""What the wrappers of single and of vector environments share."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import gymnasium as gym

from wiser.faults.registry import find
from wiser.faults.row import RowFaults
from wiser.faults.scenario import Scenario
from wiser.faults.signal import Signal


class Breakable:
    """The sensors, the state of every row, and breaking by hand."""

    sensor_names: tuple[str, ...]
    """The sensors that can break, in the order of the columns of `info["broken_sensors"]`."""

    def _set_up(self, space: gym.Space[Any], scenario: Scenario | Mapping[str, Any], first_row: int, rows: int) -> None:
        self.scenario = scenario if isinstance(scenario, Scenario) else Scenario.from_dict(scenario)
        if not isinstance(space, gym.spaces.Dict):
            raise TypeError(f"SensorFaults needs a Dict observation space with one key per sensor, got {space}")
        found = {name: Signal.from_space(entry) for name, entry in space.items()}
        self._signals = {name: signal for name, signal in found.items() if signal is not None}
        self._shapes = {name: space[name].shape or () for name in self._signals}
        self.sensor_names = tuple(self._signals)
        candidates = self._candidates(self.scenario)
        self._rows = [RowFaults(self.scenario, self._signals, candidates, first_row + row) for row in range(rows)]

    def _candidates(self, scenario: Scenario) -> list[str]:
        """The sensors that all faults of a scenario can break; raises if they are not enough."""
        if not isinstance(scenario.sensors, int):
            for name in scenario.sensors:
                for fault in scenario.faults:
                    self._check(name, fault)
            return list(scenario.sensors)
        candidates = [name for name in self.sensor_names if self._all_apply(scenario, name)]
        if scenario.sensors > len(candidates):
            raise ValueError(
                f"the scenario breaks {scenario.sensors} sensors, but {', '.join(scenario.faults)} "
                f"can only break {', '.join(candidates) or 'none'} here"
            )
        return candidates

    def _all_apply(self, scenario: Scenario, sensor: str) -> bool:
        try:
            for fault in scenario.faults:
                self._check(sensor, fault)
        except ValueError:
            return False
        return True

    def _check(self, sensor: str, fault: str) -> None:
        if sensor not in self._signals:
            raise ValueError(f"no sensor {sensor!r} in this environment; there are {', '.join(self.sensor_names)}")
        find(fault).check(self._signals[sensor], self._shapes[sensor])

    def break_sensor(self, name: str, fault: str, intensity: float = 1.0, row: int | None = None) -> None:
        """Break a sensor by hand, in one row or all, on top of the scenario, from the next observation until healed."""
        self._check(name, fault)
        if not (isfinite(intensity) and intensity > 0):
            raise ValueError(f"intensity must be finite and above 0, got {intensity}; use heal_sensor to heal")
        for faults in self._select(row):
            faults.break_by_hand(name, fault, float(intensity))

    def heal_sensor(self, name: str | None = None, row: int | None = None) -> None:
        """End what was broken by hand and, for the rest of the episode, the scenario's faults; of one sensor or all."""
        if name is not None and name not in self._signals:
            raise ValueError(f"no sensor {name!r} in this environment; there are {', '.join(self.sensor_names)}")
        for faults in self._select(row):
            for sensor in self.sensor_names if name is None else (name,):
                faults.heal(sensor)

    def _select(self, row: int | None) -> list[RowFaults]:
        if row is None:
            return self._rows
        if not 0 <= row < len(self._rows):
            raise ValueError(f"no row {row}; there are {len(self._rows)}")
        return [self._rows[row]]
