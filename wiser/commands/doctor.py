"""`wiser doctor`: is everything here that WISER needs, and what is missing from what it can use?"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    name: str
    good: bool
    found: str
    remedy: str = ""
    needed: bool = True


def version_of(module: str, package: str | None = None) -> str:
    """Import a module and say its version."""
    imported = importlib.import_module(module)
    try:
        return importlib.metadata.version(package or module)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(imported, "__version__", "unknown version"))


def check_import(name: str, module: str, remedy: str, package: str | None = None, needed: bool = True) -> Finding:
    """Whether a module can be imported."""
    try:
        return Finding(name, True, version_of(module, package), needed=needed)
    except Exception as error:  # a broken installation can raise anything at import
        return Finding(name, False, f"{type(error).__name__}: {error}", remedy, needed)


def check_numba() -> Finding:
    """Whether numba compiles, and keeps what it compiled: otherwise every start costs half a minute."""
    try:
        from numba import njit

        if njit(lambda x: x + 1)(1) != 2:
            return Finding("numba", False, "compiles wrongly", "pip install --force-reinstall numba")
    except Exception as error:
        return Finding("numba", False, f"{type(error).__name__}: {error}", "pip install 'numba>=0.60'")
    places = (
        [os.environ["NUMBA_CACHE_DIR"]] if "NUMBA_CACHE_DIR" in os.environ else [kernel_directory() / "__pycache__"]
    )
    writable = all(os.access(_existing_parent(Path(place)), os.W_OK) for place in places)
    kept = len(list(Path(places[0]).rglob("*.nbi"))) if Path(places[0]).is_dir() else 0
    remedy = "" if writable else "set NUMBA_CACHE_DIR to a directory you may write to"
    return Finding("numba", writable, f"{version_of('numba')}, cache in {places[0]} ({kept} kernels kept)", remedy)


def kernel_directory() -> Path:
    """Where the compiled sensor kernels live, next to their sources."""
    return Path(__file__).parent / "envs" / "driving" / "sensors"


def _existing_parent(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


def check_opencv() -> Finding:
    """Whether OpenCV draws and writes films."""
    try:
        import cv2
        import numpy as np

        with tempfile.TemporaryDirectory() as folder:
            film = cv2.VideoWriter(f"{folder}/a.mp4", cv2.VideoWriter.fourcc(*"mp4v"), 10, (64, 64))
            film.write(np.zeros((64, 64, 3), np.uint8))
            film.release()
            writes = Path(folder, "a.mp4").stat().st_size > 0
    except Exception as error:
        return Finding("OpenCV", False, f"{type(error).__name__}: {error}", "pip install opencv-python-headless")
    remedy = "" if writes else "pip install --force-reinstall opencv-python-headless (films can be .gif meanwhile)"
    return Finding("OpenCV", writes, f"{cv2.__version__}, {'writes' if writes else 'cannot write'} mp4", remedy)


CHECKS: tuple[Callable[[], Finding], ...] = (
    lambda: Finding("Python", sys.version_info >= (3, 11), platform.python_version(), "use Python 3.11 or newer"),
    lambda: check_import("PyTorch", "torch", "pip install torch"),
    lambda: check_import("NumPy", "numpy", "pip install numpy"),
    lambda: check_import("Gymnasium", "gymnasium", "pip install 'gymnasium>=1.1'"),
    check_numba,
    check_opencv,
    lambda: check_import(
        "CARLA client", "carla", "pip install 'wiser[carla]'; the server is separate: docs/carla.md", needed=False
    ),
)


def doctor() -> int:
    """Check the installation, say what is missing and how to get it. Returns 0 if all that is needed is there."""
    table = Table("", "part", "found", "what to do", title="wiser doctor", title_justify="left")
    sound = True
    for check in CHECKS:
        finding = check()
        sound &= finding.good or not finding.needed
        mark = "[green]ok[/]" if finding.good else "[red]missing[/]" if finding.needed else "[yellow]optional[/]"
        table.add_row(mark, finding.name, finding.found, "" if finding.good else finding.remedy)
    Console().print(table)
    Console().print("All that is needed is there." if sound else "[red]Something needed is missing.[/]")
    return 0 if sound else 1
