"""Work on many clips goes on where it was stopped, and is done again where it was done otherwise."""

import json
from pathlib import Path

import numpy as np
import pytest

from wiser.video.batch import beside, over_clips


class Worker:
    """Writes a file for each clip, and is killed at one of them."""

    def __init__(self, dies_at: str = "") -> None:
        self.done: list[str] = []
        self.dies_at = dies_at

    def __call__(self, clip: Path, stem: Path) -> dict[str, object]:
        if clip.name == self.dies_at:
            raise KeyboardInterrupt
        self.done.append(clip.name)
        made = stem.with_name(f"{stem.name}.txt")
        made.write_text(clip.name)
        return {"files": [made.name], "value": len(self.done)}


@pytest.fixture
def clips(tmp_path) -> list[Path]:
    for name in ("a.npy", "b.npy", "c.npy"):
        np.save(tmp_path / name, np.zeros(ord(name[0])))
    return sorted(tmp_path.glob("*.npy"))


def test_what_is_finished_is_skipped_after_a_kill(clips, tmp_path):
    out, first, second = tmp_path / "out", Worker("b.npy"), Worker()
    with pytest.raises(KeyboardInterrupt):
        over_clips("work", clips, out, {"sigma": 0.3}, first)
    notes = over_clips("work", clips, out, {"sigma": 0.3}, second)
    assert (first.done, second.done) == (["a.npy"], ["b.npy", "c.npy"])
    assert [note["clip"] for note in notes] == ["a.npy", "b.npy", "c.npy"]
    assert over_clips("work", clips, out, {"sigma": 0.3}, Worker("a.npy")) == notes


def test_other_settings_other_bytes_and_lost_files_are_done_again(clips, tmp_path):
    out = tmp_path / "out"

    def again(settings: dict[str, object]) -> list[str]:
        worker = Worker()
        over_clips("work", clips, out, settings, worker)
        return worker.done

    assert again({"sigma": 0.3}) == ["a.npy", "b.npy", "c.npy"]
    assert again({"sigma": 0.3}) == []
    (out / "b.txt").unlink()
    assert again({"sigma": 0.3}) == ["b.npy"]
    np.save(clips[0], np.ones(3))
    assert again({"sigma": 0.3}) == ["a.npy"]
    (out / "c.json").write_text("{half")
    assert again({"sigma": 0.3}) == ["c.npy"]
    assert again({"sigma": 0.2}) == ["a.npy", "b.npy", "c.npy"]


def test_the_note_of_what_was_made_here_is_found(tmp_path):
    note = {"fault": "glare", "files": ["a.mp4", "a.paper.mp4", "a.v2.none.mp4"]}
    (tmp_path / "a.json").write_text(json.dumps(note))
    (tmp_path / "a.v2.json").write_text(json.dumps(note))
    for name in ("a.mp4", "a.paper.mp4", "a.v2.none.mp4"):
        assert beside(tmp_path / name) == note
    assert beside(tmp_path / "a.npy") == beside(tmp_path / "b.mp4") == {}  # lies there, and was not made with it
    for other in ("[1", "[]", '{"files": 3}', "{}"):
        (tmp_path / "b.json").write_text(other)
        assert beside(tmp_path / "b.mp4") == {}


def test_what_a_note_says_anew_is_heard(clips, tmp_path):
    """The same bytes may be broken elsewhere, or go on after more frames."""
    notes = [{"files": ["b.npy"], "after": after} for after in (8, 9)]
    done = []
    for note in (notes[0], notes[0], notes[1]):
        (tmp_path / "b.json").write_text(json.dumps(note))
        worker = Worker()
        over_clips("work", clips, tmp_path / "out", {}, worker)
        done.append(worker.done)
    assert done == [["a.npy", "b.npy", "c.npy"], [], ["b.npy"]]


def test_clips_are_not_written_over(clips, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path)
    for out in (tmp_path, tmp_path / "a" / "..", tmp_path / "linked"):
        worker = Worker()
        with pytest.raises(ValueError, match="choose another one to write to"):
            over_clips("work", clips, out, {}, worker)
        assert worker.done == []
