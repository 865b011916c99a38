"""A ledger as tables for other tools: CSV always, Parquet with the extra `evaluate`.

What an episode holds by name, its measures and its modes, has a column for each name: `measure/success`.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wiser.evaluate.detection import FIGURES, Detection
from wiser.evaluate.records import Cell, Episode, columns
from wiser.extras import install_hint
from wiser.files import write_atomic

GROUPS = {"measures": "measure/", "modes": "mode/"}
EPISODES = {
    "key": str,
    **columns(Cell),
    **{name: kind for name, kind in columns(Episode).items() if name not in GROUPS},
    **dict.fromkeys(FIGURES, float),
}
CELLS = {"key": str, **columns(Cell), "seconds": float}
EPISODE_FILE, CELL_FILE = "episodes.parquet", "cells.csv"


def write_tables(folder: Path, episodes: list[dict[str, Any]], cells: list[dict[str, Any]]) -> None:
    """Write `episodes.csv`, `cells.csv` and, where there is pyarrow, `episodes.parquet`."""
    spread = [_spread(row) | _figures(row["detection"]) for row in episodes]
    named = sorted({name for row in spread for name in row} - set(EPISODES))
    kinds = EPISODES | dict.fromkeys(named, float)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / "episodes.csv", _csv(kinds, spread))
    write_atomic(folder / CELL_FILE, _csv(CELLS, cells))
    if has_arrow():
        write_atomic(folder / EPISODE_FILE, _parquet(kinds, spread))


def has_arrow() -> bool:
    """Whether Parquet can be written here."""
    try:
        _arrow()
    except ImportError:
        return False
    return True


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
        cell = Cell(**{name: group[0][name] for name in columns(Cell)})
        if cell.key != key:
            raise ValueError(f"{EPISODE_FILE} was changed, or written by another release: it calls {cell} {key}")
        yield cell, [Episode.from_row(_gather(row)) for row in group], seconds[key]


def _spread(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the ledger with a column for each thing that has a name."""
    named = {prefix + name: value for group, prefix in GROUPS.items() for name, value in json.loads(row[group]).items()}
    return {name: value for name, value in row.items() if name not in GROUPS} | named


def _gather(row: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `_spread`, without the columns of the cell."""
    plain = {name: row[name] for name in columns(Episode) if name not in GROUPS}
    for group, prefix in GROUPS.items():
        found = {name.removeprefix(prefix): row[name] for name in row if name.startswith(prefix)}
        plain[group] = json.dumps({name: value for name, value in found.items() if value is not None})
    return plain


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
    arrow = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
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
