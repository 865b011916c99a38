"""`wiser drive` films the expert."""

import cv2
import pytest

from wiser.commands.drive import drive


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_film_of_the_whole_episode(tmp_path, capsys, suffix):
    out = tmp_path / f"film{suffix}"
    assert drive("StopSign", out, seed=1) == 0
    assert "arrived" in capsys.readouterr().out
    film = cv2.VideoCapture(str(out))
    assert film.isOpened()
    assert film.get(cv2.CAP_PROP_FRAME_COUNT) > 50


def test_an_environment_without_an_expert_says_so(tmp_path, capsys):
    assert drive("CartPole-v1", tmp_path / "film.mp4") == 2
    assert "no scripted expert" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
