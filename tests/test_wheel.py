"""A wheel, built and installed without a network, is all one needs: the README's first lines and the first commands."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest

import wiser

ROOT = Path(__file__).parents[1]
AGENTS = ("four-lane/dropout", "stop-sign/dropout")
MEGABYTES = 20
"""Larger is no longer quick to fetch: each agent is about 7."""


def run(*command: str, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from a copy: a build leaves things behind."""
    pytest.importorskip("setuptools.command.bdist_wheel", reason="nothing to build with here: pip install -e '.[dev]'")
    source = tmp_path_factory.mktemp("source")
    caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "wiser", source / "wiser", symlinks=True, ignore=caches)
    shutil.copytree(ROOT / "tests", source / "tests", ignore=caches)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    (source / "models").symlink_to(ROOT / "models")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation")
    run(*pip, "--wheel-dir", "dist", ".", cwd=source)
    (built,) = (source / "dist").iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """A folder with what the wheel brings; everything else is as in this interpreter."""
    folder = tmp_path_factory.mktemp("site")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index")
    run(*pip, "--target", str(folder), str(wheel), cwd=folder)
    return folder


def test_it_has_what_is_used_and_nothing_else(wheel) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    wanted = ("*.py", "*.html", "*.css", "*.js", "*.json", "*.yaml")
    used = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "wiser").rglob("*")
        if any(fnmatch(path.name, pattern) for pattern in wanted) and "agents" not in path.relative_to(ROOT).parts
    }
    files = ("config.json", "model.safetensors", "calibration.json", "training.yaml", "README.md")
    agents = {f"wiser/agents/{agent}/{file}" for agent in AGENTS for file in files}
    assert {name for name in packed if ".dist-info/" not in name} == used | agents
    assert any(name.endswith("/LICENSE") for name in packed)
    assert wheel.stat().st_size < MEGABYTES * 1e6


def test_the_first_lines_and_the_first_commands_work_in_an_empty_folder(installed, tmp_path) -> None:
    """Kernels are kept in a folder of their own: those of this wheel are of no use afterwards."""
    where = {"PYTHONPATH": str(installed), "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "OMP_NUM_THREADS": "1"}
    empty = tmp_path / "empty"
    empty.mkdir()
    lines = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    said = run(sys.executable, "-c", f"{lines}\nprint(wiser.__file__, agent.folder)", cwd=empty, **where)
    assert said.startswith("GROUNDED, 6 of 6")
    assert said.count(str(installed)) == 2, "the wheel's files, not the checkout's"
    command = str(installed / "bin" / "wiser")
    assert run(command, "--version", cwd=empty, **where) == f"wiser {wiser.__version__}\n"
    listed = run(command, "agents", cwd=empty, **where)
    assert [name for name in AGENTS if name in listed] == list(AGENTS)
    assert "/base" not in listed
    run(command, "demo", "--episodes", "2", cwd=empty, **where)
    pages = sorted(path.relative_to(empty).as_posix() for path in empty.rglob("*.html"))
    assert pages == ["demo/best.html", "demo/worst.html"]
