"""The contact sheet of all faults."""

from pathlib import Path

import cv2
import pytest

from wiser.commands.faults import faults


def test_draws_every_fault(tmp_path, capsys) -> None:
    assert faults(tmp_path / "faults.png") == 0
    sheet = cv2.imread(str(tmp_path / "faults.png"))
    assert sheet.shape[0] == 8 * 132
    assert "16 faults" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"), [({"preset": "wild"}, "choose from"), ({"image": Path("no.png")}, "readable")]
)
def test_mistakes_are_named(tmp_path, capsys, change, message) -> None:
    assert faults(tmp_path / "faults.png", **change) == 2
    assert message in capsys.readouterr().err
