"""One verb with one signature: `fault(x, intensity, rng)`, for faults of a single frame and of a stream of frames."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wiser.faults.absence import mask_rows
from wiser.faults.presets import DEFAULT, Severity
from wiser.faults.signal import DTYPES, Frame, Kind, Signal

Rng = np.random.Generator
BOTH: tuple[Kind, ...] = ("image", "vector")
IMAGE: tuple[Kind, ...] = ("image",)


class Stream(Protocol):
    """One fault on one sensor of one row for one episode: all that it remembers dies with it."""

    def watch(self, frame: Frame) -> None:
        """See a frame of a step on which the sensor works. The frame is not ours: keep copies only."""

    def corrupt(self, frame: Frame, intensity: float, rng: Rng) -> Frame | None:
        """Break a frame, in place if that helps; None means that it never arrives. Intensity is above 0."""


class Fault:
    """A way to fail: `kinds` says which sensors can fail so, `start` begins a stream, calling it breaks a batch."""

    def __init__(
        self, name: str, description: str, kinds: tuple[Kind, ...], start: Callable[[Signal, Severity], Stream]
    ) -> None:
        self.name, self.description, self.kinds, self.start = name, description, kinds, start

    def __repr__(self) -> str:
        return f"<fault {self.name}: {self.description}>"

    def __call__(
        self,
        x: NDArray[Any],
        intensity: ArrayLike,
        rng: Rng | Sequence[Rng],
        *,
        severity: Severity = DEFAULT,
        signal: Signal | None = None,
    ) -> NDArray[Any]:
        """Break a batch; the input is left alone, shape and dtype are kept.

        Args:
            x: (B, H, W, C) images or (B, n) vectors; uint8, or float (images in [0, 1]). For the faults of a stream
                (lag, freeze, dropout, drift, missing) the first axis is time.
            intensity: 0 is the identity; one number, or one per row (B,).
            rng: one generator that the rows draw from in turn, or one per row: then a row is broken in the
                same way whatever batch it is in.
            severity: what intensity 1 means.
            signal: kind and range of the sensor, where the guess of `Signal.of` is wrong.

        Returns:
            The broken batch; a masked array if frames are missing.
        """
        signal = signal or Signal.of(x)
        self.check(signal, x.shape[1:])
        if x.dtype not in DTYPES:
            raise TypeError(f"fault {self.name!r} takes uint8, float32 or float64, got {x.dtype}")
        rows = len(x)
        intensities = _per_row(intensity, rows)  # (B,)
        rngs = [rng] * rows if isinstance(rng, Rng) else rng
        if len(rngs) != rows:
            raise ValueError(f"got {len(rngs)} generators for {rows} rows")
        out = np.array(x, order="C")
        frames = out if signal.kind == "image" else out.reshape(rows, int(np.prod(x.shape[1:])))  # (B, n)
        absent = np.zeros(rows, bool)  # (B,)
        stream = self.start(signal, severity)
        # One row at a time: a row's draws cannot depend on its neighbours, and a frame stays in the fastest cache.
        for row, frame in enumerate(frames):
            if intensities[row] == 0:
                stream.watch(frame)
                continue
            broken = stream.corrupt(frame, intensities[row], rngs[row])
            absent[row] = broken is None
            if broken is not None and broken is not frame:
                frame[...] = broken
        return mask_rows(out, absent) if absent.any() else out

    def check(self, signal: Signal, shape: tuple[int, ...]) -> None:
        """Raise unless this fault makes sense for a sensor with frames of this shape."""
        if signal.kind not in self.kinds:
            raise ValueError(f"fault {self.name!r} breaks {' and '.join(self.kinds)} sensors, not a {signal.kind}")
        if self.name in ("chrome", "swap") and shape[-1] < 2:
            raise ValueError(f"fault {self.name!r} needs a picture of at least two channels, got shape {shape}")


def _per_row(intensity: ArrayLike, rows: int) -> list[float]:
    values = np.asarray(intensity, dtype=float)
    if values.shape not in ((), (rows,)):
        raise ValueError(f"intensity must be one number or one per row ({rows},), got shape {values.shape}")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"intensity must be finite and at least 0, got {values}")
    return np.broadcast_to(values, rows).tolist()


Kernel = Callable[[Frame, float, Rng, Signal, Severity], None]
"""Breaks one frame in place."""


class _Memoryless:
    """The stream of a fault that needs nothing but the frame."""

    def __init__(self, kernel: Kernel, signal: Signal, severity: Severity) -> None:
        self._kernel, self._signal, self._severity = kernel, signal, severity

    def watch(self, frame: Frame) -> None:
        pass

    def corrupt(self, frame: Frame, intensity: float, rng: Rng) -> Frame:
        if frame.size:
            with np.errstate(invalid="ignore"):  # a frame may hold NaN and Inf already
                self._kernel(frame, intensity, rng, self._signal, self._severity)
        return frame


def frame_fault(kinds: tuple[Kind, ...]) -> Callable[[Kernel], Fault]:
    """Make a fault of a function that breaks one frame in place; its docstring is the description."""

    def decorate(kernel: Kernel) -> Fault:
        def start(signal: Signal, severity: Severity = DEFAULT) -> Stream:
            return _Memoryless(kernel, signal, severity)

        return Fault(kernel.__name__, _first_line(kernel), kinds, start)

    return decorate


def stream_fault(name: str, stream: Callable[[Signal, Severity], Stream]) -> Fault:
    """Make a fault of a stream class. Streams of images and of vectors fail alike."""
    return Fault(name, _first_line(stream), BOTH, stream)


def _first_line(documented: Any) -> str:
    return (documented.__doc__ or "").strip().splitlines()[0]
