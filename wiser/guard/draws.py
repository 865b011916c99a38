"""Random numbers of the guard: one generator per row, so that a row's draws do not depend on its batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wiser import seeds


class RowDraws:
    """Row i draws from `seed + i`, the convention of Gymnasium's vector environments, in a stream of its own."""

    def __init__(self, seed: int, rows: int, purpose: str = "guard") -> None:
        self._seeds, self._purpose = [seed + row for row in range(rows)], purpose
        self._generators = [seeds.generator(purpose, own) for own in self._seeds]
        self._streams: list[RowDraws] = []

    def apart(self, purpose: str) -> RowDraws:
        """Draws of the same rows in a stream of its own: what is drawn there changes nothing here."""
        stream = RowDraws(0, len(self._seeds), purpose)
        for row, seed in enumerate(self._seeds):
            stream.restart(row, seed)
        self._streams.append(stream)
        return stream

    def restart(self, row: int, seed: int) -> None:
        """Let a row draw from another seed, from its beginning, here and in the streams set apart."""
        self._seeds[row] = seed
        self._generators[row] = seeds.generator(self._purpose, seed)
        for stream in self._streams:
            stream.restart(row, seed)

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
