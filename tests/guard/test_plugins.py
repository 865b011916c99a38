"""Scores and denoisers of others: by entry point, by module, and what is said of names that lead nowhere."""

import subprocess
import sys

import numpy as np
import pytest

from tests import tiny
from wiser.guard import Guard, Mode, Rejection
from wiser.guard.denoisers import find_denoiser
from wiser.guard.scores import find_score, known_scores

PACKAGE = """
from wiser.guard import Score
def brightness(look):
    return look.obs["camera"].float().flatten(1).mean(1)
guarded = Score(brightness, tau=100.0)
class Tools:
    @staticmethod
    def black(look):
        return {name: 0 * x for name, x in look.obs.items()}
"""
POINTS = """
[wiser.scores]
brightness = shining_things:guarded
lost = shining_things:nothing_here
[wiser.denoisers]
black = shining_things:Tools.black
"""


@pytest.fixture
def installed(tmp_path, monkeypatch) -> None:
    """A package as pip leaves it."""
    (tmp_path / "shining_things.py").write_text(PACKAGE)
    record = tmp_path / "shining_things-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: shining-things\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("shining_things", None)


SENSORS = (tiny.image("camera"),)


def shades(*values: int) -> dict[str, np.ndarray]:
    return {"camera": np.stack([np.full((16, 16, 3), value, np.uint8) for value in values])}


def test_an_installed_package_brings_scores_and_denoisers_by_name(installed) -> None:
    guard = Guard(tiny.model(SENSORS), Rejection("brightness", denoiser="black"), rows=2)
    _, verdict = guard.act(shades(90, 110))
    assert verdict.scores["score"].tolist() == pytest.approx([90, 110])
    assert verdict.mode.tolist() == [Mode.GROUNDED, Mode.DENOISED]
    assert verdict.scores["denoised"][1] == 0


def test_a_module_brings_them_as_package_module_and_name(installed) -> None:
    guard = Guard(tiny.model(SENSORS), Rejection("shining_things:brightness", denoiser=None, tau=100.0), rows=2)
    _, verdict = guard.act(shades(90, 110))
    assert verdict.mode.tolist() == [Mode.GROUNDED, Mode.PREDICTIVE]
    assert find_denoiser("shining_things:Tools.black").ready(guard.model)(guard.evidence.look)["camera"].sum() == 0
    assert Rejection("shining_things:brightness").needs == ("shining_things:brightness",)


def test_names_that_lead_nowhere_are_answered_with_those_that_lead_somewhere(installed) -> None:
    with pytest.raises(ValueError, match=r"unknown score 'brightnes' \(did you mean 'brightness'\?\); there are surp"):
        find_score("brightnes")
    with pytest.raises(ValueError, match=r"unknown denoiser 'white'; there are posterior, .*, restormer, black"):
        find_denoiser("white")
    with pytest.raises(ValueError, match=r"no score 'shining_things:nothing_here': .*has no attribute"):
        find_score("lost")
    with pytest.raises(ValueError, match="no score 'dull_things:guarded': No module named 'dull_things'"):
        find_score("dull_things:guarded")
    with pytest.raises(ValueError, match=r"score 'surprise' has no weights: leave out @x\.pth"):
        find_score("surprise@x.pth")


def test_calibrations_record_what_installed_packages_bring(installed, tmp_path) -> None:
    points = tmp_path / "shining_things-1.0.dist-info" / "entry_points.txt"
    points.write_text("[wiser.scores]\nbrightness = shining_things:guarded\n")
    assert "brightness" in known_scores(tiny.model(SENSORS))
    sys.path.remove(str(tmp_path))
    assert "brightness" not in known_scores(tiny.model(SENSORS))


def test_a_module_may_lie_in_the_current_folder(tmp_path) -> None:
    (tmp_path / "my_scores.py").write_text("def zero(look):\n    return look.surprise * 0\n")
    code = "from wiser.guard.scores import find_score; print(find_score('my_scores:zero').measure.__name__)"
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "zero\n", done.stderr
