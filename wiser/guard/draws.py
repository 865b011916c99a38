"""Random numbers of the guard: one generator per row, so that a row's draws do not depend on its batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wiser import seeds


class RowDraws:
    """Row i draws from `seed + i`, the convention of Gymnasium's vector environments, in a stream of its own."""

    def __init__(self, seed: int, rows: int, purpose: str = "guard") -> None:
        self._seed = seed
        self._generators = [seeds.generator(purpose, seed + row) for row in range(rows)]

    def apart(self, purpose: str) -> RowDraws:
        """Draws of the same rows in a stream of its own: what is drawn there changes nothing here."""
        return RowDraws(self._seed, len(self._generators), purpose)

    def uniform(self, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return uniform numbers in [0, 1), (B, count)."""
        return np.stack([generator.random(count) for generator in self._generators])

    @property
    def states(self) -> list[Any]:
        """Plain values from which every row goes on."""
        return [generator.bit_generator.state for generator in self._generators]

    @states.setter
    def states(self, states: Sequence[Any]) -> None:
        for generator, state in zip(self._generators, states, strict=True):
            generator.bit_generator.state = state
