"""What a fault must know of the sensor it breaks, and the two ways to write into a frame without wrapping around."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import cv2
import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

Frame = NDArray[Any]
"""One observation of one sensor of one row: (H, W, C) image or flat (n,) vector, C-contiguous."""

Kind = Literal["image", "vector"]

DTYPES = (np.dtype(np.uint8), np.dtype(np.float32), np.dtype(np.float64))
"""What can be broken. Other types (Discrete, integers, text) pass through untouched."""

UNBOUNDED_RAIL = 10.0
"""Where a vector without a finite range saturates; its noise is scaled to a range of 1."""


@dataclass(frozen=True, eq=False)
class Signal:
    """Kind and range of a sensor. Bounds are floats, or (n,) where a vector's elements differ; they may be infinite."""

    kind: Kind
    low: float | NDArray[Any]
    high: float | NDArray[Any]

    @classmethod
    def of(cls, x: NDArray[Any]) -> "Signal":
        """Guess from a batch: (B, H, W, C) is an image, uint8 or in [0, 1]; anything else a vector of unknown range."""
        kind: Kind = "image" if x.ndim == 4 else "vector"
        if x.dtype == np.uint8:
            return cls(kind, 0.0, 255.0)
        return cls(kind, 0.0, 1.0) if kind == "image" else cls(kind, -np.inf, np.inf)

    @classmethod
    def from_space(cls, space: Space[Any]) -> "Signal | None":
        """The signal of one entry of a Dict space, or None if it is nothing that can be broken."""
        if not isinstance(space, Box) or space.dtype not in DTYPES or 0 in space.shape:
            return None
        kind: Kind = "image" if len(space.shape) == 3 else "vector"
        low, high = space.low.reshape(-1), space.high.reshape(-1)
        if kind == "image" or ((low == low[:1]).all() and (high == high[:1]).all()):
            return cls(kind, float(low.min()), float(high.max()))
        return cls(kind, low, high)

    @cached_property
    def scale(self) -> Any:
        """Width of the range where it is finite, else 1: what intensities are relative to."""
        bounded = np.isfinite(self.low) & np.isfinite(self.high)
        return _plain(np.subtract(self.high, self.low, where=bounded, out=np.ones(np.shape(bounded))))

    @cached_property
    def floor(self) -> Any:
        """The value of a sensor saturated downwards."""
        return _plain(np.where(np.isfinite(self.low), self.low, -UNBOUNDED_RAIL))

    @cached_property
    def ceiling(self) -> Any:
        """The value of a sensor saturated upwards."""
        return _plain(np.where(np.isfinite(self.high), self.high, UNBOUNDED_RAIL))

    @cached_property
    def dark(self) -> Any:
        """The value of a sensor that sends nothing: black for images, the legal value nearest to 0 for vectors."""
        if self.kind == "image" and np.isfinite(self.low):
            return self.low
        return _plain(np.clip(0.0, self.low, self.high))

    @cached_property
    def fills_byte(self) -> bool:
        """Whether the range is that of uint8, so that saturating arithmetic needs no further clipping."""
        return np.ndim(self.low) == 0 and self.low == 0 and self.high == 255


def _plain(value: Any) -> Any:
    # A NumPy scalar of 64 bits would widen every float32 array it meets; Python's float does not.
    return float(value) if np.ndim(value) == 0 else value


def store(frame: Frame, values: NDArray[Any], signal: Signal) -> None:
    """Write float `values` into `frame`, clipped to the range and rounded if the frame holds integers."""
    np.clip(values, signal.low, signal.high, out=values)
    if frame.dtype == np.uint8:
        np.rint(values, out=values)
    frame[...] = values


def affine(frame: Frame, gain: float, offset: Any, signal: Signal) -> None:
    """frame <- gain * frame + offset, clipped to the range, in place."""
    if frame.dtype == np.uint8 and signal.fills_byte and np.ndim(offset) == 0:
        flat = frame.reshape(1, -1)
        cv2.addWeighted(flat, gain, flat, 0.0, float(offset), dst=flat)
        return
    values = frame.astype(np.result_type(frame, np.float32))
    values *= gain
    values += offset
    store(frame, values, signal)
