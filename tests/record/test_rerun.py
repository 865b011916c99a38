"""Recordings for the Rerun viewer."""

import subprocess
import sys

import pytest

from tests.record.runs import record
from wiser.record import check_target, to_rrd


def test_without_the_sdk_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(RuntimeError, match=r"pip install 'wiser-guard\[rerun\]'"):
        to_rrd(record(), tmp_path / "run.rrd")
    with pytest.raises(RuntimeError, match=r"pip install 'wiser-guard\[rerun\]'"):
        check_target(tmp_path / "run.rrd")  # before anything is driven


def test_the_file_holds_every_lane(tmp_path):
    pytest.importorskip("rerun", reason="the Rerun SDK is not installed: pip install 'wiser-guard[rerun]'")
    path = to_rrd(record(view=True), tmp_path / "run.rrd")
    said = subprocess.run([sys.executable, "-m", "rerun", "rrd", "verify", path], capture_output=True, text=True)
    assert "1 file verified without error" in said.stdout + said.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["run.rrd"]
