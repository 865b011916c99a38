"""The ledger of a sweep: an SQLite file that holds whole cells and nothing else, whenever a process dies.

A sweep resumes by asking which keys are missing. Every operation opens the file for itself, so a `Ledger` is no more
than a path: it may be pickled, forked and shared, and at rest it is one file.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wiser.evaluate.records import TIMING, VERSION, Cell, Episode, columns
from wiser.evaluate.tables import has_tables, read_tables, write_tables

LEDGER = "ledger.sqlite"
"""Its name in the folder of a sweep."""
MARK = 0x57495345
"""`application_id` of the file, "WISE": tells a ledger from other SQLite files."""
PATIENCE = 60.0
"""Seconds to wait for another process to finish writing; a write takes milliseconds."""
CELL, EPISODE = columns(Cell), columns(Episode)
SQL_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL"}


class LedgerError(ValueError):
    """A ledger that cannot be used; the message says which file, what is wrong and what to do."""


@dataclass(frozen=True)
class Ledger:
    """Cells and their episodes on disk. Several processes may write at once; `Ledger.open` makes sure of the file."""

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> Ledger:
        """Open the ledger at `path`, or start an empty one."""
        ledger = cls(Path(path))
        try:
            ledger.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(f"cannot keep a ledger at {path}: {error}; choose another path") from error
        with ledger._connection("rwc") as connection:
            connection.execute("BEGIN IMMEDIATE")
            ledger._recognise_or_create(connection)
            connection.execute("COMMIT")
            _use_write_ahead_log(connection)
        return ledger

    @classmethod
    def of(cls, folder: Path, restored: Path | None = None) -> Ledger:
        """Open the ledger of a sweep's folder, or start an empty one.

        Where there are only exported tables, the ledger is made from them: in `restored`, or in the folder itself.
        """
        if (folder / LEDGER).exists() or not has_tables(folder):
            return cls.open(folder / LEDGER)
        ledger = cls.open((restored or folder) / LEDGER)
        try:
            for cell, episodes, seconds in read_tables(folder):
                ledger.write(cell, episodes, seconds)
        except (OSError, ImportError, KeyError, ValueError) as error:
            raise LedgerError(f"could not read the tables in {folder}: {error}") from error
        return ledger

    def finished(self) -> set[str]:
        """Keys of the cells that are there."""
        with self._connection() as connection:
            return {key for (key,) in connection.execute("SELECT key FROM cells")}

    def write(self, cell: Cell, episodes: Iterable[Episode], seconds: float) -> bool:
        """Add a finished cell, all of it or nothing. A cell that is there already stays as it is; then False."""
        rows = [{"cell": cell.key, **episode.to_row()} for episode in episodes]
        if not rows or len({row["index"] for row in rows}) < len(rows):
            raise ValueError(f"a finished cell has episodes, each with an index of its own: {cell}")
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            record = {"key": cell.key, **vars(cell), TIMING: float(seconds)}
            fresh = connection.execute(f"{_insert('cells', record)} ON CONFLICT (key) DO NOTHING", record).rowcount == 1
            if fresh:
                connection.executemany(_insert("episodes", rows[0]), rows)
            connection.execute("COMMIT")
        return fresh

    def cells(self) -> list[dict[str, Any]]:
        """One dictionary per cell, by key: its fields and the seconds it took."""
        return self._select(f"SELECT key, {_names(CELL)}, {TIMING} FROM cells ORDER BY key")

    def episodes(self, key: str) -> list[Episode]:
        """Episodes of one cell, by index; none if the cell is not there."""
        query = f'SELECT {_names(EPISODE)} FROM episodes WHERE cell = ? ORDER BY "index"'
        return [Episode.from_row(row) for row in self._select(query, key)]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary of plain values per episode, with the fields of its cell, by key and index."""
        return self._select(f"""
            SELECT key, {_names(CELL)}, {_names(EPISODE, "episodes.")}
            FROM cells JOIN episodes ON cell = key ORDER BY key, "index" """)

    def fingerprint(self) -> str:
        """Digest of everything but the timing: equal if and only if two sweeps came to the same results."""
        digest = hashlib.sha256(f"{VERSION}\n".encode())
        for row in self.rows():
            del row[TIMING]
            digest.update(json.dumps(row, sort_keys=True).encode() + b"\n")
        return digest.hexdigest()

    def export(self, folder: str | Path) -> None:
        """Write `episodes.csv`, `cells.csv` and, with pyarrow, `episodes.parquet`: same content, same bytes."""
        try:
            write_tables(Path(folder), self.rows(), self.cells())
        except OSError as error:
            raise LedgerError(f"could not export {self.path} to {folder}: {error}") from error

    @contextmanager
    def _connection(self, mode: str = "rw") -> Iterator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        try:
            with closing(sqlite3.connect(address, PATIENCE, isolation_level=None, uri=True)) as connection:
                connection.execute("PRAGMA synchronous = FULL")  # what is committed survives a power cut
                yield connection
        except sqlite3.Error as error:
            raise LedgerError(f"{self.path}: {error}; {_advice(error)}") from error

    def _select(self, query: str, *values: Any) -> list[dict[str, Any]]:
        with self._connection() as connection:
            cursor = connection.execute(query, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def _recognise_or_create(self, connection: sqlite3.Connection) -> None:
        mark, version, tables = (
            connection.execute(query).fetchone()[0]
            for query in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        if (mark, tables) == (0, 0):
            for statement in _schema():
                connection.execute(statement)
        elif mark != MARK:
            raise LedgerError(f"{self.path} is an SQLite file but not a ledger; choose another path")
        elif version != VERSION:
            raise LedgerError(
                f"{self.path} is a ledger of version {version}, this release keeps version {VERSION}: "
                "read it with the release that wrote it, or choose another path and sweep again"
            )


def _schema() -> Iterator[str]:
    cell, episode = (
        ", ".join(f'"{name}" {SQL_TYPES[kind]}' for name, kind in record.items()) for record in (CELL, EPISODE)
    )
    yield f"CREATE TABLE cells (key TEXT PRIMARY KEY, {cell}, {TIMING} REAL)"
    yield f'CREATE TABLE episodes (cell TEXT REFERENCES cells (key), {episode}, PRIMARY KEY (cell, "index"))'
    yield f"PRAGMA application_id = {MARK}"
    yield f"PRAGMA user_version = {VERSION}"


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    # The busy timeout does not cover this switch: of two processes that start a ledger together, one has to try again.
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _insert(table: str, row: dict[str, Any]) -> str:
    return f"INSERT INTO {table} ({_names(row)}) VALUES ({', '.join(f':{name}' for name in row)})"


def _names(row: Iterable[str], table: str = "") -> str:
    return ", ".join(f'{table}"{name}"' for name in row)


def _advice(error: sqlite3.Error) -> str:
    """What to do about it; the codes are SQLite's primary ones, which extended codes keep in their last byte."""
    kept = "run again; every cell that was written is kept"
    unwritable = "make the file and its folder writable, or choose another path"
    return {
        sqlite3.SQLITE_FULL: f"free some disk space and {kept}",
        sqlite3.SQLITE_IOERR: f"look whether the disk is full or failing and {kept}",
        sqlite3.SQLITE_BUSY: f"another process has been writing for {PATIENCE:.0f} s: stop it and {kept}",
        sqlite3.SQLITE_READONLY: unwritable,
        sqlite3.SQLITE_CANTOPEN: unwritable,
        sqlite3.SQLITE_NOTADB: "choose another path for the ledger",
        sqlite3.SQLITE_CORRUPT: "the file is damaged: restore a copy, or move it away and sweep again",
    }.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "is it a ledger of this release?")
