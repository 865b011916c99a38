"""A ledger as tables for other tools: CSV always, Parquet with the extra `evaluate`."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from wiser.evaluate.detection import FIGURES, Detection
from wiser.evaluate.records import Cell, Episode, columns
from wiser.worldmodel.store import write_atomic

EPISODES = {"key": str, **columns(Cell), **columns(Episode), **dict.fromkeys(FIGURES, float)}
CELLS = {"key": str, **columns(Cell), "episodes": int, "seconds": float}


def write_tables(folder: Path, episodes: list[dict[str, Any]], cells: list[dict[str, Any]]) -> None:
    """Write `episodes.csv`, `cells.csv`, then `episodes.parquet`; ImportError if there is no pyarrow for the last."""
    episodes = [row | _figures(row["detection"]) for row in episodes]
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / "episodes.csv", _csv(EPISODES, episodes))
    write_atomic(folder / "cells.csv", _csv(CELLS, cells))
    write_atomic(folder / "episodes.parquet", _parquet(EPISODES, episodes))


def _figures(detection: str | None) -> dict[str, float | None]:
    return dict.fromkeys(FIGURES) if detection is None else Detection.from_json(detection).figures()


def _csv(kinds: dict[str, type], rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    table = csv.DictWriter(text, list(kinds), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue().encode()


def _parquet(kinds: dict[str, type], rows: list[dict[str, Any]]) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("the CSV files are written; Parquet needs pyarrow: pip install wiser[evaluate]") from error
    arrow = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    schema = pyarrow.schema([(name, arrow[kind]) for name, kind in kinds.items()])
    data = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema), data)
    return data.getvalue()
