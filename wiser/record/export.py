"""Write a recording in the form its file name asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wiser.checks import check_file
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
    check_file(path)
    if path.suffix.lower() == ".rrd":
        find_rerun()
