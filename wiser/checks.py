"""What can be found wrong before any work is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any


def at_least(least: int, **counts: int | None) -> None:
    """Raise a ValueError that names the first of `counts` that is too small; one that was not given is fine."""
    for name, count in counts.items():
        if count is not None and count < least:
            raise ValueError(f"{name} must be at least {least}, got {count}")


def check_fields(kind: type, values: Any, what: str) -> None:
    """Raise a ValueError, which lists all fields, unless `values` is a mapping with some of those of `kind`."""
    known = [field.name for field in fields(kind)]
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} is a mapping with some of {', '.join(known)}, got {values!r}")
    if unknown := set(values) - set(known):
        raise ValueError(f"unknown fields {sorted(unknown)} of {what}; there are {', '.join(known)}")


def check_file(path: Path) -> None:
    """Raise a ValueError where no file could be written afterwards."""
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder")
    check_folder(path.parent)


def check_folder(path: Path) -> None:
    """Raise a ValueError where no file could be written to a folder, which need not be there yet.

    It is tried out: permissions alone do not tell, for some file systems refuse whoever asks.
    """
    home = next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
    try:
        TemporaryFile(dir=home).close()
    except OSError as error:
        raise ValueError(f"cannot write to {path}: {error.strerror}; choose another place") from error
