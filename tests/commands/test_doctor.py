"""The doctor finds what is missing, and is content with this installation."""

import sys
import tomllib
from pathlib import Path

from wiser.commands import doctor
from wiser.extras import ALONE

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_this_installation_is_sound(capsys):
    assert doctor.doctor() == 0
    printed = capsys.readouterr().out
    for part in ("torch", "numba", "OpenCV", "15 in", "carla"):
        assert part in printed


def test_it_checks_all_that_the_library_depends_on():
    checked = {*doctor.NEEDED.values(), "torch>=2.4", "numba>=0.60", "opencv-python-headless>=4.9"}
    assert checked == set(PROJECT["dependencies"])


def test_it_checks_all_extras_that_the_library_itself_uses():
    of_developers = {"bench", "peers", "dev"}
    extras = {extra.name: set(extra.modules.values()) for extra in doctor.EXTRAS}
    asked = PROJECT["optional-dependencies"]
    assert extras == {name: {it.split(">")[0] for it in asked[name]} for name in asked.keys() - of_developers}


def test_what_an_extra_needs_besides_is_looked_for_too(monkeypatch):
    (safety,) = (extra for extra in doctor.EXTRAS if extra.name in ALONE)
    assert "safety-gymnasium 1.0.0" in doctor.check_extra(safety).found
    monkeypatch.setitem(ALONE, safety.name, "no-such-package==1")
    finding = doctor.check_extra(safety)
    assert not finding.good
    assert finding.remedy.endswith(
        "pip install 'wiser-guard[safety]' and then pip install --no-deps no-such-package==1"
    )


def test_what_is_missing_comes_with_a_remedy():
    finding = doctor.check_module("no_such_module", "nothing>=2")
    assert not finding.good
    assert "ModuleNotFoundError" in finding.found
    assert finding.remedy == "pip install 'nothing>=2'"


def test_a_missing_extra_is_no_fault_and_is_named_with_its_brackets(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setattr(doctor, "CHECKS", [lambda: doctor.check_extra(doctor.EXTRAS[0])])
    assert doctor.doctor() == 0
    assert "'wiser-guard[cockpit]'" in capsys.readouterr().out


def test_an_unwritable_cache_is_named(monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", "/nowhere")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    finding = doctor.check_numba()
    assert not finding.good
    assert "/nowhere" in finding.found
    assert "NUMBA_CACHE_DIR" in finding.remedy


def test_without_agents_it_says_where_they_would_be(monkeypatch, tmp_path):
    monkeypatch.setattr("wiser.worldmodel.store.SHIPPED", tmp_path)
    finding = doctor.check_agents()
    assert not finding.good
    assert str(tmp_path) in finding.found
    assert "folder of your own" in finding.remedy
