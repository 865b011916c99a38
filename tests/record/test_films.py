"""Films of a recording, and of any frames."""

import cv2
import numpy as np
import pytest

from tests.record.runs import record
from wiser.record import save_film, to_gif, to_mp4
from wiser.record.frame import COLOURS, HAZARD, FrameArtist, places


def frames_of(path) -> list[np.ndarray]:
    film, frames = cv2.VideoCapture(str(path)), []
    while (read := film.read())[0]:
        frames.append(read[1])
    return frames


def shows(frame: np.ndarray, colour: str) -> int:
    wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    return int((frame == wanted).all(-1).sum())


@pytest.mark.parametrize("view", [False, True])
def test_mp4_has_every_step(tmp_path, view):
    recording = record(view=view)
    frames = frames_of(to_mp4(recording, tmp_path / "run.mp4"))
    assert len(frames) == recording.steps
    assert [path.name for path in tmp_path.iterdir()] == ["run.mp4"]


def test_gif_has_every_second_step(tmp_path):
    recording = record()
    frames = frames_of(to_gif(recording, tmp_path / "run.gif"))
    assert len(frames) == recording.steps // 2
    assert frames[0].shape[1] <= 640


def test_frames_show_trust_and_truth():
    artist = FrameArtist(record())
    before, during = artist.draw(2), artist.draw(10)
    for colour in (COLOURS["masked"], COLOURS["unhealthy"], HAZARD):
        assert shows(during, colour) > shows(before, colour)
    assert shows(during, COLOURS["trusted"]) < shows(before, COLOURS["trusted"])
    assert before.shape == during.shape
    assert all(side % 2 == 0 for side in before.shape[:2])


@pytest.mark.parametrize("first_large", [False, True])
@pytest.mark.parametrize("sensors", range(1, 9))
def test_pictures_never_overlap(sensors, first_large):
    found = places(sensors, first_large)
    assert len(found) == sensors
    taken = np.zeros((2000, 2000), int)
    for x, y, size in found:
        taken[y : y + size, x : x + size] += 1
    assert taken.max() == 1


def test_any_frames_become_a_film(tmp_path):
    frames = [np.full((36, 64, 3), 10 * k, np.uint8) for k in range(6)]
    assert len(frames_of(save_film(frames, tmp_path / "a.mp4"))) == 6
    assert len(frames_of(save_film(frames, tmp_path / "a.gif"))) == 3
    with pytest.raises(ValueError, match="no frames"):
        save_film([], tmp_path / "b.mp4")
    with pytest.raises(ValueError, match="no frames"):
        save_film([], tmp_path / "b.gif")
