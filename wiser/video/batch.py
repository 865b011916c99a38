"""Work on many clips that survives any kill: a clip is finished when its note lies there, and is then skipped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wiser.checks import check_folder
from wiser.files import write_atomic

Work = Callable[[Path, Path], Mapping[str, Any]]
"""Takes a clip and the path of what it makes, without a suffix; gives what its note says, with the `files` made."""


def over_clips(
    what: str, clips: Sequence[Path], out: Path, settings: Mapping[str, Any], work: Work
) -> list[dict[str, Any]]:
    """Do work on each clip into a folder; notes of all, whether they were done now or before.

    What was made of the same bytes, with the same note beside them and the same settings, is not made again.
    """
    _check_apart(clips, out)
    check_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    notes, console = [], Console(stderr=True)
    with _progress(console) as bar:
        line = bar.add_task(what, total=len(clips), clip="")
        for clip in clips:
            bar.update(line, clip=clip.name)
            stem, key = out / clip.stem, _key(clip, settings)
            note = _finished(stem, key)
            if note is None:
                note = {"key": key, "clip": clip.name, **work(clip, stem)}
                write_atomic(_note(stem), (json.dumps(note, indent=1) + "\n").encode())
            notes.append(note)
            bar.advance(line)
    return notes


def beside(clip: Path) -> dict[str, Any]:
    """The note that a clip was made with, if it was made here; empty otherwise. Of `a.paper.mp4` it is `a.json`."""
    for stem in (clip.stem, clip.stem.rpartition(".")[0]):
        try:
            note: dict[str, Any] = json.loads(clip.with_name(f"{stem}.json").read_text())
            if clip.name in note["files"]:
                return note
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return {}


def counted(notes: Sequence[Mapping[str, Any]], out: Path) -> str:
    """What there is now, in a line."""
    return f"{len(notes)} {'clip' if len(notes) == 1 else 'clips'}: {out}"


def _check_apart(clips: Sequence[Path], out: Path) -> None:
    """Raise where what is made would lie among the clips, and replace them or the notes beside them."""
    if any(clip.parent.resolve() == out.resolve() for clip in clips):
        raise ValueError(f"{out} is the folder of the clips themselves: choose another one to write to")


def _note(stem: Path) -> Path:
    return stem.with_name(f"{stem.name}.json")


def _key(clip: Path, settings: Mapping[str, Any]) -> str:
    told = json.dumps([settings, beside(clip)], sort_keys=True, default=str)
    return hashlib.sha256(told.encode() + hashlib.sha256(clip.read_bytes()).digest()).hexdigest()


def _finished(stem: Path, key: str) -> dict[str, Any] | None:
    """The note of a clip that is done; None if anything is missing or was made otherwise."""
    try:
        note: dict[str, Any] = json.loads(_note(stem).read_text())
        whole = note["key"] == key and all((stem.parent / name).is_file() for name in note["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return note if whole else None


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[clip]}"), console=console,
    )  # fmt: skip
