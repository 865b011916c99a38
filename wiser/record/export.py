"""Write a recording in the form its file name asks for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from wiser.record.film import to_gif, to_mp4
from wiser.record.recording import Recording
from wiser.record.rrd import find_rerun, to_rrd
from wiser.record.web import to_html

FORMS: dict[str, Callable[[Recording, str | Path], Path]] = {
    ".npz": Recording.save,
    ".html": to_html,
    ".mp4": to_mp4,
    ".gif": to_gif,
    ".rrd": to_rrd,
}


def export(recording: Recording, path: str | Path) -> Path:
    """Write a recording: .npz (itself, `Recording.load` reads it), .html, .mp4, .gif or .rrd."""
    check_target(path)
    return FORMS[Path(path).suffix.lower()](recording, path)


def check_target(path: str | Path) -> None:
    """Raise before anything is driven where a recording could not be written afterwards."""
    path = Path(path)
    if path.suffix.lower() not in FORMS:
        raise ValueError(f"cannot write {path}: a recording can become {', '.join(FORMS)}")
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder")
    if path.suffix.lower() == ".rrd":
        find_rerun()
    home = next(folder for folder in path.absolute().parents if folder.exists())
    if not home.is_dir() or not os.access(home, os.W_OK):
        raise ValueError(f"cannot write {path}: {home} is not a folder one may write to")
