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


def test_the_note_beside_a_clip_is_read_if_there_is_one(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"fault": "glare"}))
    assert beside(tmp_path / "a.mp4") == {"fault": "glare"}
    assert beside(tmp_path / "b.mp4") == {}
    (tmp_path / "b.json").write_text("[1")
    assert beside(tmp_path / "b.mp4") == {}
