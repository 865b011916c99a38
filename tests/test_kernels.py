"""Compiled functions lie in the user's cache folder, whoever imported numba first, and compiling is announced once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wiser.kernels import cache_folder

ROOT = Path(__file__).parents[1]
COUNT = """
from wiser.kernels import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def triple(x):
    return 3 * x

print(double(2) + triple(1))
"""


def compile_in(folder: Path, first: str = "", **environment: str) -> subprocess.CompletedProcess:
    (folder / "counting.py").write_text(first + COUNT)
    clean = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return subprocess.run(
        [sys.executable, "counting.py"], cwd=folder, capture_output=True, text=True, check=True,
        env={**clean, "PYTHONPATH": str(ROOT), "HOME": str(folder / "home"), **environment},
    )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
@pytest.mark.parametrize("first", ["", "import numba\n"])
def test_they_are_kept_in_the_user_s_cache_folder_and_announced_when_they_are_made(tmp_path, first):
    made = compile_in(tmp_path, first, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert made.stdout == "7\n"
    assert made.stderr == "Compiling WISER's kernels, once on this machine: about half a minute\n"
    kept = list(tmp_path.rglob("*.nbi"))
    assert len(kept) == 2
    assert all(path.is_relative_to(tmp_path / "cache" / "wiser" / "kernels") for path in kept)
    assert compile_in(tmp_path, first, XDG_CACHE_HOME=str(tmp_path / "cache")).stderr == ""


def test_a_folder_that_the_user_chose_is_used(tmp_path):
    compile_in(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "chosen"))
    assert all(path.is_relative_to(tmp_path / "chosen") for path in tmp_path.rglob("*.nbi"))
    assert list(tmp_path.rglob("*.nbi"))


def test_other_people_s_functions_stay_where_they_were(tmp_path):
    theirs = "import numba\n@numba.njit(cache=True)\ndef half(x):\n    return x / 2\nhalf(1)\n"
    compile_in(tmp_path, theirs, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert [path.name.split("-")[0] for path in (tmp_path / "__pycache__").glob("*.nbi")] == ["counting.half"]


def test_the_driving_world_leaves_nothing_in_the_package():
    import gymnasium

    import wiser.envs  # noqa: F401

    gymnasium.make("wiser/StopSign-v0").reset(seed=0)
    assert not list((ROOT / "wiser").rglob("*.nbi"))
    assert not cache_folder().is_relative_to(ROOT / "wiser")
