"""The contact sheet of all faults."""

import cv2
import pytest

from wiser.faults.gallery import Gallery, gallery


def test_draws_every_fault(tmp_path, capsys) -> None:
    path = gallery(Gallery(out=tmp_path / "faults.png"))
    sheet = cv2.imread(str(path))
    assert sheet.shape[0] == 8 * 132
    assert "16 faults" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"), [({"preset": "wild"}, "choose from"), ({"image": "no.png"}, "readable")]
)
def test_mistakes_are_named(tmp_path, change, message) -> None:
    with pytest.raises(SystemExit, match=message):
        gallery(Gallery(out=tmp_path / "faults.png", **change))
