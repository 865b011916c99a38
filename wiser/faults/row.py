"""The faults of one row: its schedule, what its broken sensors remember, and what somebody broke by hand."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.faults.fault import Rng, Stream
from wiser.faults.presets import PRESETS, Severity
from wiser.faults.registry import find
from wiser.faults.scenario import Scenario
from wiser.faults.schedule import Schedule, generator
from wiser.faults.signal import Frame, Signal


class Chain:
    """The faults of one sensor, one after another."""

    def __init__(self, faults: Mapping[str, float], signal: Signal, severity: Severity, rng: Rng) -> None:
        """`faults` are names with their intensities, none of them 0."""
        self._stages: list[tuple[Stream, float]] = [
            (find(name).start(signal, severity), intensity) for name, intensity in faults.items()
        ]
        self._rng = rng
        self.intensity = max(faults.values())

    def watch(self, frame: Frame) -> None:
        """A step on which the sensor works."""
        for stream, _ in self._stages:
            stream.watch(frame)

    def corrupt(self, frame: Frame) -> Frame | None:
        """Break a frame that belongs to us; None means that it never arrives."""
        current: Frame | None = frame
        for stream, intensity in self._stages:
            if current is None:
                return None
            current = stream.corrupt(current, intensity, self._rng)
        return current


class RowFaults:
    """Breaks the observations of one row. After each, `changed` has the frames that differ, `intensity` how badly."""

    def __init__(self, scenario: Scenario, signals: Mapping[str, Signal], candidates: list[str], row: int) -> None:
        self._scenario, self._signals, self._candidates, self._row = scenario, signals, candidates, row
        self._severity = PRESETS[scenario.preset]
        self._by_hand: dict[str, dict[str, float]] = {}  # sensor -> fault -> intensity
        self._scheduled: dict[str, Chain] = {}
        self._manual: dict[str, Chain] = {}
        self._episode = -1
        self.changed: dict[str, NDArray[Any] | None] = {}
        self.intensity = np.zeros(len(signals), np.float32)  # (N,)

    def begin(self) -> None:
        """Start the next episode with nothing left of the last. What was broken by hand breaks afresh."""
        self._episode += 1
        self._step = -1
        self._schedule = Schedule(self._scenario, self._candidates, self._row, self._episode)
        faults = dict.fromkeys(self._scenario.faults, float(self._scenario.intensity))
        sensors = self._schedule.sensors if self._scenario.intensity > 0 else ()
        self._scheduled = {name: self._chain(name, faults, "scenario") for name in sensors}
        self._manual = {}

    def _chain(self, sensor: str, faults: Mapping[str, float], origin: str) -> Chain:
        rng = generator(self._scenario.seed, self._row, self._episode, f"{origin}/{sensor}")
        return Chain(faults, self._signals[sensor], self._severity, rng)

    def observe(self, frames: Mapping[str, NDArray[Any]]) -> None:
        """Take the next observation of the row; a frame in `changed` is None if it never arrives."""
        self._step += 1
        active = self._schedule.active(self._step)
        self.changed = {}
        self.intensity = np.zeros(len(self._signals), np.float32)  # (N,)
        for column, (name, signal) in enumerate(self._signals.items()):
            if name not in frames:
                continue
            chains = self._active_chains(name, frames[name], active)
            if chains:
                self.intensity[column] = max(chain.intensity for chain in chains)
                self.changed[name] = _break(frames[name], signal, chains)

    def _active_chains(self, name: str, frame: NDArray[Any], active: bool) -> list[Chain]:
        chains = []
        if name in self._scheduled:
            if active:
                chains.append(self._scheduled[name])
            else:
                self._scheduled[name].watch(_flat(frame, self._signals[name]))
        if name in self._by_hand:
            if name not in self._manual:
                self._manual[name] = self._chain(name, self._by_hand[name], f"hand/{self._step}")
            chains.append(self._manual[name])
        return chains

    def break_by_hand(self, sensor: str, fault: str, intensity: float) -> None:
        """Switch a fault on, or change its intensity, from the next observation on."""
        self._by_hand.setdefault(sensor, {})[fault] = intensity
        self._manual.pop(sensor, None)  # built anew with the next observation

    def heal(self, sensor: str) -> None:
        """End the faults switched on by hand, and for the rest of this episode those of the scenario."""
        self._by_hand.pop(sensor, None)
        self._manual.pop(sensor, None)
        self._scheduled.pop(sensor, None)


def _flat(frame: NDArray[Any], signal: Signal) -> Frame:
    return frame if signal.kind == "image" else frame.reshape(-1)


def _break(frame: NDArray[Any], signal: Signal, chains: list[Chain]) -> NDArray[Any] | None:
    current: Frame | None = _flat(np.array(frame, order="C"), signal)
    for chain in chains:
        if current is not None:
            current = chain.corrupt(current)
    return None if current is None else current.reshape(frame.shape)
