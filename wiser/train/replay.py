"""Sequence replay: rings of steps, one per environment, in memory or in memory-mapped files.

All rows advance together. Pages are touched only when written, so capacity costs nothing until it is used. Fresh
sequences are handed out once before random ones (the online queue), and the belief before each step is kept so that a
sequence need not start from nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray


class Field(NamedTuple):
    """What one entry of a step looks like."""

    shape: tuple[int, ...]
    dtype: str


class Sample(NamedTuple):
    """A batch of sequences, and where they came from."""

    steps: dict[str, NDArray[Any]]  # each (B, T, *shape)
    before: dict[str, NDArray[Any]]  # the step before each sequence, (B, *shape)
    fresh_start: NDArray[np.bool_]  # (B,) there is no step before: start from the initial belief
    rows: NDArray[np.int64]  # (B,)
    starts: NDArray[np.int64]  # (B,) counted from the beginning of time


class Replay:
    """The last `capacity` steps of `rows` environments together."""

    def __init__(self, fields: Mapping[str, Field], rows: int, capacity: int, folder: Path | None = None) -> None:
        self.fields, self.rows, self.length = dict(fields), rows, max(1, capacity // rows)
        self.head = 0  # steps written per row
        self.folder = folder
        self._queue: deque[tuple[int, int]] = deque()
        self._refreshed: set[str] = set()
        self._arrays = {name: self._allocate(name, field) for name, field in self.fields.items()}

    def _allocate(self, name: str, field: Field) -> NDArray[Any]:
        shape = (self.rows, self.length, *field.shape)
        if self.folder is None:
            return np.zeros(shape, field.dtype)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(name, "bin")
        size = int(np.prod(shape)) * np.dtype(field.dtype).itemsize
        mode = "r+" if path.exists() and path.stat().st_size == size else "w+"
        return np.memmap(path, field.dtype, mode, shape=shape)  # type: ignore[call-overload]

    def _path(self, name: str, ending: str) -> Path:
        """File of a field, whatever characters its name has."""
        assert self.folder is not None
        return self.folder / f"{quote(name, safe='')}.{ending}"

    def __len__(self) -> int:
        return min(self.head, self.length) * self.rows

    def add(self, step: Mapping[str, NDArray[Any]], sequence: int) -> None:
        """Append one step of every row, each value (rows, *shape); queue rows that have `sequence` new steps."""
        slot = self.head % self.length
        for name, values in step.items():
            self._arrays[name][:, slot] = values
        self.head += 1
        if self.head % sequence == 0 and sequence <= self.length:
            self._queue.extend((row, self.head - sequence) for row in range(self.rows))

    def sample(self, batch: int, length: int, rng: np.random.Generator) -> Sample:
        """Draw sequences: first those not seen before, then any, uniformly."""
        oldest, newest = max(0, self.head - self.length), self.head - length
        if newest < oldest:
            raise ValueError(f"{len(self)} steps in {self.rows} rows hold no sequence of {length}")
        places: list[tuple[int, int]] = []
        while self._queue and len(places) < batch:
            row, start = self._queue.popleft()
            if oldest <= start <= newest:
                places.append((row, start))
        drawn = rng.integers((0, oldest), (self.rows, newest + 1), (batch - len(places), 2))
        rows, starts = np.concatenate([np.array(places, np.int64).reshape(-1, 2), drawn]).T
        steps = {name: self._gather(name, rows, starts, length) for name in self.fields}
        before = {name: array[rows, (starts - 1) % self.length] for name, array in self._arrays.items()}
        return Sample(steps, before, starts <= oldest, rows, starts)

    def _gather(self, name: str, rows: NDArray[Any], starts: NDArray[Any], length: int) -> NDArray[Any]:
        source = self._arrays[name]
        out = np.empty((len(rows), length, *self.fields[name].shape), self.fields[name].dtype)
        for i, (row, start) in enumerate(zip(rows.tolist(), (starts % self.length).tolist(), strict=True)):
            first = min(length, self.length - start)  # a sequence may run over the end of the ring
            out[i, :first] = source[row, start : start + first]
            out[i, first:] = source[row, : length - first]
        return out

    def refresh(self, sample: Sample, values: Mapping[str, NDArray[Any]]) -> None:
        """Write newer values (B, T, *shape), such as beliefs, back to where a sample came from."""
        length = next(iter(values.values())).shape[1]
        slots = (sample.starts[:, None] + np.arange(length)) % self.length  # (B, T)
        for name, value in values.items():
            self._arrays[name][sample.rows[:, None], slots] = value
        self._refreshed |= set(values)

    def save(self, tag: int) -> dict[str, Any]:
        """Make a replay on disk safe and return what else `restore` needs.

        Steps never change once written and would be written again in the same way, but what `refresh` touches does
        change: it is copied under `tag`, an older copy stays until `forget`.
        """
        if self.folder is not None:
            for array in self._arrays.values():
                array.flush()  # type: ignore[attr-defined]
            for name in self._refreshed:
                np.save(self._path(name, f"{tag}.npy"), self._arrays[name][:, : self.head])
        return {"head": self.head, "queue": list(self._queue), "tag": tag, "refreshed": sorted(self._refreshed)}

    def forget(self, tag: int) -> None:
        """Delete copies older than the one under `tag`."""
        if self.folder is not None:
            for path in self.folder.glob("*.npy"):
                if int(path.name.split(".")[-2]) != tag:
                    path.unlink()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` returned. A replay in memory is gone with its process and starts empty."""
        if self.folder is None:
            return
        self.head = int(state["head"])
        self._queue = deque((row, start) for row, start in state["queue"])
        self._refreshed = set(state["refreshed"])
        for name in self._refreshed:
            self._arrays[name][:, : self.head] = np.load(self._path(name, f"{state['tag']}.npy"))
