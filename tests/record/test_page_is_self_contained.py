"""The page needs nothing but itself, and texts in it stay texts."""

import base64
import json
import re
from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.record.runs import record
from wiser.record import About, Recording, to_html
from wiser.record.sheets import sheets
from wiser.record.web import inert_json

EVIL = '</script><script>document.title = "taken"</script><img src=x onerror="document.title = 1">&{{script}}'


def data_in(page: str) -> dict:
    return json.loads(re.search(r'id="recording">(.*?)</script>', page, re.S)[1])


def unpacked(packed: dict) -> np.ndarray:
    """All frames of sprite sheets, as the page cuts them out."""
    frames = []
    for uri in packed["images"]:
        data = np.frombuffer(base64.b64decode(uri.removeprefix("data:image/webp;base64,")), np.uint8)
        sheet = cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1]
        for cell in range(packed["per_sheet"]):
            row, column = divmod(cell, packed["columns"])
            y, x = row * packed["height"], column * packed["width"]
            frames.append(sheet[y : y + packed["height"], x : x + packed["width"]])
    return np.stack([frame for frame in frames if frame.size])


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    return to_html(record(view=True), tmp_path_factory.mktemp("page") / "run.html").read_text()


def test_nothing_is_fetched(page):
    assert not re.search(r"https?://", page)
    assert not re.search(r"<link|@import|src=[\"'](?!data:)|url\((?!data:)", page)
    assert "default-src 'none'" in page


def test_every_placeholder_is_filled(page):
    assert not re.search(r"\{\{\w+\}\}", page)


def test_the_data_says_what_was_recorded(page):
    data, recording = data_in(page), record(view=True)
    assert [sensor["name"] for sensor in data["sensors"]] == ["camera", "lidar", "range"]
    assert data["modes"] == ["grounded", "denoised", "predictive", "fallback"]
    for packed, lane in zip(data["lanes"], recording.lanes, strict=True):
        assert packed["steps"] == len(lane)
        assert len(packed["surprise"]) == len(packed["mode"]) == len(lane)
        assert [len(states) for states in packed["state"]] == [len(lane)] * 3
        assert len(packed["readings"]["range"]) == len(lane)
    guarded = data["lanes"][2]
    assert guarded["state"][0] == "t" * 8 + "m" * 8 + "t" * 6
    assert guarded["state"][2] == "t" * 8 + "u" * 8 + "t" * 6
    assert guarded["words"][guarded["fault"][0][8]] == "glare 0.5"
    assert guarded["scores"]["isolated_surprise"][0] == [1.0, 2.0, None]  # infinity is no JSON


def test_every_frame_is_in_the_sheets():
    rng = np.random.default_rng(0)
    frames = np.kron(rng.integers(0, 256, (300, 4, 4, 3), dtype=np.uint8), np.ones((1, 16, 16, 1), np.uint8))
    packed = sheets(frames)
    assert len(packed["images"]) > 1
    np.testing.assert_array_equal(unpacked(packed)[:300], frames)  # drawings are kept exactly


def test_noise_is_packed_approximately():
    frames = np.random.default_rng(0).integers(0, 256, (20, 64, 64, 3), dtype=np.uint8)
    packed = sheets(frames)
    assert sum(map(len, packed["images"])) < frames.size / 2
    assert unpacked(packed)[:20].shape == frames.shape


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_any_number_of_channels_can_be_shown(channels):
    frames = np.full((5, 8, 8, channels), 200, np.uint8)
    np.testing.assert_array_equal(unpacked(sheets(frames))[:5], np.full((5, 8, 8, 3), 200))


def test_texts_stay_texts(tmp_path):
    recording = record()
    lanes = tuple(replace(lane, name=EVIL, method=EVIL, outcome=EVIL) for lane in recording.lanes)
    evil = Recording(About(EVIL, EVIL, EVIL, (), EVIL, EVIL), recording.sensors, lanes)
    page = to_html(evil, tmp_path / "evil.html").read_text()
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert data_in(page)["about"]["title"] == EVIL


def test_numbers_that_are_not_finite_become_null():
    assert json.loads(inert_json({"a": [float("nan"), float("inf"), 1.5], "b": "<&>"})) == {
        "a": [None, None, 1.5],
        "b": "<&>",
    }


def test_three_lanes_of_six_cameras_and_300_steps_stay_small(tmp_path):
    """Camera-like frames: smooth, moving, a little noise."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:64, :64] / 64
    total = 0
    for shift in np.linspace(0, 3, 3):
        t = np.arange(300)[:, None, None] / 50 + shift
        scene = np.stack([np.sin(6 * x + t), np.cos(5 * y - t), np.sin(4 * (x + y) + t)], -1) * 100 + 128
        packed = sheets((scene + rng.normal(0, 2, scene.shape)).clip(0, 255).astype(np.uint8))
        total += sum(map(len, packed["images"]))
    assert 6 * total < 6e6
