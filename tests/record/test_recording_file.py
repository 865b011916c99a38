"""One file per recording: it comes back as it was, is never half written, and damage is named."""

import io
import json
import zipfile

import numpy as np
import pytest

from tests.record.runs import record
from wiser.files import replacing
from wiser.record import Recording, RecordingError, export
from wiser.record.recording import COLUMNS


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record(view=True)


@pytest.fixture
def path(recording, tmp_path):
    return recording.save(tmp_path / "run.npz")


def assert_equal(first: Recording, second: Recording) -> None:
    assert (first.about, first.sensors, first.bands) == (second.about, second.sensors, second.bands)
    for one, other in zip(first.lanes, second.lanes, strict=True):
        assert (one.name, one.method, one.outcome) == (other.name, other.method, other.outcome)
        for name in (*COLUMNS, "view"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        for group in ("readings", "predictions", "scores"):
            mine, theirs = getattr(one, group), getattr(other, group)
            assert mine.keys() == theirs.keys()
            for name in mine:
                np.testing.assert_array_equal(mine[name], theirs[name])
                assert mine[name].dtype == theirs[name].dtype


def test_round_trip(recording, path):
    assert_equal(Recording.load(path), recording)


def test_numpy_opens_it_without_pickle(path):
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["0/readings/camera"].shape == (24, 32, 32, 3)
        assert json.loads(arrays["recording.json"])["about"]["title"] == "A test"


def test_a_failed_save_leaves_the_old_file_and_nothing_else(recording, path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr(np.lib.format, "write_array", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        recording.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["run.npz"]


def test_folders_are_made(tmp_path):
    with replacing(tmp_path / "deep" / "file.txt") as temporary:
        temporary.write_text("there")
        assert temporary.suffix == ".txt"
    assert (tmp_path / "deep" / "file.txt").read_text() == "there"


def test_every_cut_is_noticed(path):
    data = path.read_bytes()
    for length in np.linspace(0, len(data) - 1, 20).astype(int):
        path.write_bytes(data[:length])
        with pytest.raises(RecordingError, match=r"run\.npz is not a readable recording"):
            Recording.load(path)


def test_flipped_bytes_are_noticed(path):
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        inside = archive.getinfo("1/readings/camera.npy").header_offset + 2000
    data[inside] ^= 255
    path.write_bytes(bytes(data))
    with pytest.raises(RecordingError):
        Recording.load(path)


def rewritten(path, name: str, content: bytes | None) -> None:
    """Replace one member of the archive, or drop it."""
    with zipfile.ZipFile(path) as archive:
        members = {entry: archive.read(entry) for entry in archive.namelist()}
    members.pop(name)
    if content is not None:
        members[name] = content
    with zipfile.ZipFile(path, "w") as archive:
        for entry, data in members.items():
            archive.writestr(entry, data)


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("0/trusted.npy", None, "trusted"),
        ("0/trusted.npy", npy(np.zeros((24, 2), bool)), "column trusted in lane 'clean'"),
        ("0/trusted.npy", npy(np.zeros((24, 3))), "column trusted in lane 'clean'"),
        ("0/trusted.npy", npy(np.array([{}], object)), "not a plain array"),
        ("0/mode.npy", b"\x93NUMPY no more", "recording"),
        ("0/readings/camera.npy", npy(np.zeros((24, 8, 8, 3), np.uint8)), "frames of 'camera'"),
        ("0/readings/lidar.npy", None, "other sensors in lane 'clean'"),
        ("0/mode.npy", npy(np.full(24, 9, np.int8)), "unknown modes in lane 'clean'"),
        ("0/level.npy", npy(np.full((24, 3), 7, np.int8)), "unknown levels in lane 'clean'"),
        ("0/view.npy", npy(np.zeros((3, 8, 8, 3), np.uint8)), "view"),
        ("0/scores/isolated_surprise.npy", npy(np.zeros(3, np.float32)), "score isolated_surprise"),
        ("recording.json", b"{}", "format"),
        ("recording.json", b'{"format": "wiser-recording", "version": 3}', "this release reads"),
        ("recording.json", b"not json", "recording"),
        ("recording.json", None, "recording.json"),
    ],
)
def test_what_is_wrong_is_named(path, name, content, problem):
    rewritten(path, name, content)
    with pytest.raises(RecordingError, match=problem):
        Recording.load(path)


def test_an_array_that_claims_to_be_huge_takes_no_memory(path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|b1", "fortran_order": False, "shape": (10**15, 3)})
    rewritten(path, "0/trusted.npy", header.getvalue())
    with pytest.raises(RecordingError, match="damaged"):
        Recording.load(path)


def test_a_missing_file_is_a_recording_error(tmp_path):
    with pytest.raises(RecordingError, match="No such file"):
        Recording.load(tmp_path / "none.npz")


def test_export_goes_by_the_suffix(recording, tmp_path):
    assert_equal(Recording.load(export(recording, tmp_path / "a.npz")), recording)
    assert export(recording, tmp_path / "a.HTML").read_text().startswith("<!doctype html>")
    with pytest.raises(ValueError, match=r"can become \.npz, \.html, \.mp4, \.gif, \.rrd"):
        export(recording, tmp_path / "a.txt")
