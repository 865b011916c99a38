"""Batches of every kind that a fault may be given, and the faults as the tests go through them."""

import numpy as np
from numpy.typing import NDArray

from wiser.faults import APPLIES, FAULTS

STREAMS = ("lag", "freeze", "dropout", "drift", "missing")
FRAMES = tuple(name for name in FAULTS if name not in STREAMS)
CASES = [(name, kind, dtype) for kind in APPLIES for name in APPLIES[kind] for dtype in ("uint8", "float32", "float64")]


def batch(kind: str, dtype: str, seed: int = 0, rows: int = 4) -> NDArray:
    rng = np.random.default_rng(seed)
    shape = (rows, 12, 15, 3) if kind == "image" else (rows, 7)
    if dtype == "uint8":
        return rng.integers(0, 256, shape, np.uint8)
    return rng.random(shape).astype(dtype) if kind == "image" else rng.standard_normal(shape).astype(dtype)


def picture(size: int = 64) -> NDArray[np.uint8]:
    """A picture with structure: gradients, edges and a texture, neither dark nor bright on the whole."""
    y, x = np.mgrid[0:size, 0:size] / size
    channels = (0.3 + 0.4 * y, 0.5 + 0.3 * np.sin(9 * x), 0.4 + 0.3 * ((x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.1))
    texture = 0.1 * np.random.default_rng(0).random((size, size, 1))
    return ((np.stack(channels, -1) + texture) * 255).clip(0, 255).astype(np.uint8)


def generators(rows: int, seed: int = 0) -> list[np.random.Generator]:
    return [np.random.default_rng((seed, row)) for row in range(rows)]
