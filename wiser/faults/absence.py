"""A sensor that sends nothing in some rows of a batch: a masked array whose whole row is masked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def mask_rows(x: NDArray[Any], absent: NDArray[np.bool_]) -> np.ma.MaskedArray[Any, Any]:
    """Mark rows (B,) of x (B, ...) as absent. Their values are erased: what was lost must not be readable."""
    values = np.array(x)
    values[absent] = 0
    mask = np.zeros(values.shape, bool)
    mask[absent] = True
    return np.ma.MaskedArray(values, mask)


def absent_rows(x: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows of x (B, ...) are absent, (B,)."""
    if not isinstance(x, np.ma.MaskedArray):
        return np.zeros(len(x), bool)
    return np.asarray(np.ma.getmaskarray(x).reshape(len(x), -1).all(axis=1))
