"""The doctor finds what is missing, and is content with this installation."""

from wiser import doctor


def test_this_installation_is_sound(capsys):
    assert doctor.doctor() == 0
    printed = capsys.readouterr().out
    for part in ("PyTorch", "numba", "OpenCV", "CARLA client"):
        assert part in printed


def test_what_is_missing_comes_with_a_remedy():
    finding = doctor.check_import("nothing", "no_such_module", "pip install nothing")
    assert not finding.good
    assert "ModuleNotFoundError" in finding.found
    assert finding.remedy == "pip install nothing"


def test_an_unwritable_cache_is_named(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/nowhere")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    finding = doctor.check_numba()
    assert not finding.good
    assert "NUMBA_CACHE_DIR" in finding.remedy
