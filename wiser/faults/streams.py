"""Faults of a stream: they need more than the present frame. One object per sensor, row and episode."""

from collections import deque
from math import ceil

from wiser.faults.fault import Rng, stream_fault
from wiser.faults.presets import DEFAULT, Severity
from wiser.faults.signal import Frame, Signal, affine


class Lag:
    """Stale frames: each arrives late; the delay grows with intensity, up to the longest at 1.

    The delay is drawn once each time the sensor breaks. Until there are enough frames the oldest is shown.
    """

    def __init__(self, signal: Signal, severity: Severity = DEFAULT) -> None:
        self._steps = severity.lag_steps
        self._past: deque[Frame] = deque(maxlen=ceil(self._steps[1]) + 1)  # newest last
        self._delay: float | None = None

    def watch(self, frame: Frame) -> None:
        """Remember a frame; the next fault is a new one."""
        self._past.append(frame.copy())
        self._delay = None

    def corrupt(self, frame: Frame, intensity: float, rng: Rng) -> Frame:
        """The frame of `delay` steps ago."""
        self._past.append(frame.copy())
        if self._delay is None:
            self._delay = rng.uniform(*self._steps)
        steps = max(1, round(min(1.0, intensity) * self._delay))
        return self._past[max(0, len(self._past) - 1 - steps)].copy()


class Freeze:
    """The frame at which the sensor broke is repeated; below intensity 1 a fresh one slips through now and then."""

    def __init__(self, signal: Signal, severity: Severity = DEFAULT) -> None:
        self._held: Frame | None = None

    def watch(self, frame: Frame) -> None:
        """A working step ends the freeze."""
        self._held = None

    def corrupt(self, frame: Frame, intensity: float, rng: Rng) -> Frame:
        """The held frame, renewed with probability 1 - intensity."""
        renewed = rng.random() >= intensity
        if self._held is None or renewed:
            self._held = frame.copy()
        return self._held.copy()


class Dropout:
    """Bursts of lost frames, shown as black (vectors: zero); the share of lost frames grows with intensity."""

    def __init__(self, signal: Signal, severity: Severity = DEFAULT) -> None:
        self._dark, self._severity = signal.dark, severity
        self._lost: bool | None = None

    def watch(self, frame: Frame) -> None:
        """A working step ends the burst."""
        self._lost = None

    def corrupt(self, frame: Frame, intensity: float, rng: Rng) -> Frame:
        """One step of a two-state chain that spends `share` of its time in bursts of the preset's mean length."""
        share = min(1.0, intensity * self._severity.dropout_fraction)
        if self._lost is None:
            chance = share
        else:
            # Beyond burst / (burst + 1) single good frames cannot be rarer: the bursts must be longer.
            leave = min(1.0 / self._severity.dropout_burst, (1.0 - share) / share)
            enter = leave * share / (1.0 - share) if share < 1.0 else 1.0
            chance = 1.0 - leave if self._lost else enter
        self._lost = bool(rng.random() < chance)
        if self._lost:
            frame[...] = self._dark
        return frame


class Drift:
    """A bias that grows with intensity and with the time since the sensor first broke; its sign is drawn then."""

    def __init__(self, signal: Signal, severity: Severity = DEFAULT) -> None:
        self._signal, self._rate = signal, severity.drift_rate
        self._age = 0
        self._sign: float | Frame | None = None

    def watch(self, frame: Frame) -> None:
        """A sensor that has begun to drift goes on even while nothing shows."""
        self._age += self._sign is not None

    def corrupt(self, frame: Frame, intensity: float, rng: Rng) -> Frame:
        """Brightness of an image moves as one, each element of a vector its own way."""
        if self._sign is None:
            self._sign = rng.choice((-1.0, 1.0), None if self._signal.kind == "image" else frame.shape)
        self._age += 1
        affine(frame, 1.0, self._sign * (intensity * self._rate * self._age * self._signal.scale), self._signal)
        return frame


class Missing:
    """The key is absent from the observation; below intensity 1 now and then, from 1 on always."""

    def __init__(self, signal: Signal, severity: Severity = DEFAULT) -> None:
        pass

    def watch(self, frame: Frame) -> None:
        """Nothing to remember."""

    def corrupt(self, frame: Frame, intensity: float, rng: Rng) -> Frame | None:
        """Nothing, with probability intensity."""
        return None if rng.random() < intensity else frame


lag = stream_fault("lag", Lag)
freeze = stream_fault("freeze", Freeze)
dropout = stream_fault("dropout", Dropout)
drift = stream_fault("drift", Drift)
missing = stream_fault("missing", Missing)
