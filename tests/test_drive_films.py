"""`wiser drive` films the expert."""

import cv2
import pytest

from wiser.drive import drive


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_film_of_the_whole_episode(tmp_path, capsys, suffix):
    out = drive("StopSign", tmp_path / f"film{suffix}", seed=1)
    assert "reached the destination" in capsys.readouterr().out
    film = cv2.VideoCapture(str(out))
    assert film.isOpened()
    assert film.get(cv2.CAP_PROP_FRAME_COUNT) > 50
