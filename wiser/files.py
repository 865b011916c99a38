"""Files that are never half written: whenever the process dies, a path holds the old bytes or the new ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary file to write; it becomes `path` at once when all is written, and vanishes if that fails.

    It lies in the same folder, which is made if need be, and ends in the same suffix: some writers look at that.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomic(path: str | Path, data: bytes) -> None:
    """Replace `path` by `data`; if that fails, the error says that the previous file is untouched."""
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(data)
    except OSError as error:
        raise OSError(
            error.errno, f"could not write {path}: {error.strerror}; the previous file is untouched"
        ) from error
