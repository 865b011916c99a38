"""Random numbers of the guard: one generator per row, so that a row's draws do not depend on its batch."""

from __future__ import annotations

from typing import Any

import numpy as np


class RowDraws:
    """Row i draws from `seed + i`, the convention of Gymnasium's vector environments."""

    def __init__(self, seed: int, rows: int) -> None:
        self._generators = [np.random.default_rng(seed + row) for row in range(rows)]

    def uniform(self, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return uniform numbers in [0, 1), (B, count)."""
        return np.stack([generator.random(count) for generator in self._generators])
