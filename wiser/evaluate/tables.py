"""A ledger as tables for other tools: CSV always, Parquet with the extra `evaluate`."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wiser.evaluate.detection import FIGURES, Detection
from wiser.evaluate.records import Cell, Episode, columns
from wiser.extras import install_hint
from wiser.worldmodel.store import write_atomic

EPISODES = {"key": str, **columns(Cell), **columns(Episode), **dict.fromkeys(FIGURES, float)}
CELLS = {"key": str, **columns(Cell), "episodes": int, "seconds": float}
EPISODE_FILE, CELL_FILE = "episodes.parquet", "cells.csv"


def write_tables(folder: Path, episodes: list[dict[str, Any]], cells: list[dict[str, Any]]) -> None:
    """Write `episodes.csv`, `cells.csv`, then `episodes.parquet`; ImportError if there is no pyarrow for the last."""
    episodes = [row | _figures(row["detection"]) for row in episodes]
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / "episodes.csv", _csv(EPISODES, episodes))
    write_atomic(folder / CELL_FILE, _csv(CELLS, cells))
    write_atomic(folder / EPISODE_FILE, _parquet(EPISODES, episodes))


def has_tables(folder: Path) -> bool:
    """Whether there is what `read_tables` needs."""
    return (folder / EPISODE_FILE).is_file() and (folder / CELL_FILE).is_file()


def read_tables(folder: Path) -> Iterator[tuple[Cell, list[Episode], float]]:
    """Every cell of exported tables with its episodes and seconds; ValueError if they do not belong together."""
    with open(folder / CELL_FILE, newline="") as file:
        seconds = {row["key"]: float(row["seconds"]) for row in csv.DictReader(file)}
    rows = defaultdict(list)
    for row in _arrow().parquet.read_table(folder / EPISODE_FILE).to_pylist():
        rows[row["key"]].append(row)
    if set(seconds) != set(rows):
        raise ValueError(f"{EPISODE_FILE} and {CELL_FILE} are not of the same sweep")
    for key, group in rows.items():
        cell = Cell(**{name: group[0][name] for name in columns(Cell) if name in group[0]})
        if cell.key != key:
            raise ValueError(f"{EPISODE_FILE} was changed, or written by another release: it calls {cell} {key}")
        yield cell, [Episode.from_row({name: row[name] for name in columns(Episode)}) for row in group], seconds[key]


def _figures(detection: str | None) -> dict[str, float | None]:
    return dict.fromkeys(FIGURES) if detection is None else Detection.from_json(detection).figures()


def _csv(kinds: dict[str, type], rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    table = csv.DictWriter(text, list(kinds), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue().encode()


def _parquet(kinds: dict[str, type], rows: list[dict[str, Any]]) -> bytes:
    pyarrow = _arrow()
    arrow = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    schema = pyarrow.schema([(name, arrow[kind]) for name, kind in kinds.items()])
    data = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema), data, compression="zstd", compression_level=19)
    return data.getvalue()


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        hint = install_hint("evaluate")
        raise ImportError(f"CSV files need nothing, but Parquet needs pyarrow: {hint}") from error
    return pyarrow
