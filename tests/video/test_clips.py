"""Videos in and out."""

from fractions import Fraction

import numpy as np
import pytest

from tests.video.worlds import moving_blob

pytest.importorskip("av")
from wiser.video.clips import find_clips, read_clip, write_clip


def test_a_video_comes_back_as_it_was_but_for_what_the_codec_takes(tmp_path):
    frames = moving_blob(9, 0)
    found = read_clip(write_clip(tmp_path / "a.mp4", frames, Fraction(16)))
    assert found.frames.shape == frames.shape
    assert found.rate == 16
    assert np.abs(found.frames.astype(int) - frames).mean() < 4
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


def test_an_array_comes_back_to_the_byte(tmp_path):
    frames = moving_blob(4, 1)
    np.save(tmp_path / "a.npy", frames)
    assert np.array_equal(read_clip(tmp_path / "a.npy").frames, frames)
    write_clip(tmp_path / "b.npy", frames[:, :15], Fraction(16))  # odd sides too
    assert np.array_equal(np.load(tmp_path / "b.npy"), frames[:, :15])
    assert {path.name for path in tmp_path.iterdir()} == {"a.npy", "b.npy"}


def test_frames_are_resized(tmp_path):
    np.save(tmp_path / "a.npy", moving_blob(3, 0))
    for size in ((8, 32), (48, 64)):
        found = read_clip(tmp_path / "a.npy", size).frames
        assert found.shape == (3, *size, 3)
        assert abs(found.mean() - moving_blob(3, 0).mean()) < 3


def test_what_cannot_be_read_is_told_in_a_line(tmp_path):
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(ValueError, match="no readable video"):
        read_clip(tmp_path / "text.mp4")
    np.save(tmp_path / "wrong.npy", np.zeros((3, 4)))
    with pytest.raises(ValueError, match="frames are"):
        read_clip(tmp_path / "wrong.npy")
    with pytest.raises(ValueError, match="even sides"):
        write_clip(tmp_path / "odd.mp4", np.zeros((2, 15, 16, 3), np.uint8), Fraction(16))


def test_videos_are_found_by_name_and_in_folders(tmp_path):
    for name in ("b.mp4", "a.npy", "note.json", ".hidden.mp4"):
        (tmp_path / name).touch()
    assert [path.name for path in find_clips([tmp_path])] == ["a.npy", "b.mp4"]
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.mp4").touch()
    with pytest.raises(ValueError, match="two videos are called a"):
        find_clips([tmp_path, tmp_path / "more"])
    with pytest.raises(ValueError, match="no video"):
        find_clips([tmp_path / "c.mp4"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"no \.mp4 or \.npy"):
        find_clips([tmp_path / "empty"])
