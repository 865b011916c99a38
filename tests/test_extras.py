"""What to install is said by a name that is ours, and its brackets reach the reader."""

import sys
import tomllib
from pathlib import Path

from wiser.commands.sweep import sweep
from wiser.extras import DISTRIBUTION, install_hint

ROOT = Path(__file__).parents[1]


def test_the_name_is_that_of_the_distribution():
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"] == DISTRIBUTION


def test_nobody_is_sent_to_another_project():
    texts = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "wiser").rglob("*.py")]
    assert not [path for path in texts if "wiser[" in path.read_text() or "pip install wiser`" in path.read_text()]


def test_brackets_are_not_taken_for_a_style(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert sweep("quick", out=tmp_path, engine="ray") == 2
    assert install_hint("ray") == "pip install 'wiser-guard[ray]'"
    assert install_hint("ray") in capsys.readouterr().err.replace("\n", " ")
