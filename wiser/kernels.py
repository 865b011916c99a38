"""Functions compiled by numba, and where they are kept: in the user's cache folder.

Beside their sources, numba's own choice, they would stay behind when the package is uninstalled.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config, event

_numba: Any = config  # its settings are made when it is imported, unseen by type checkers


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, once on this machine: `numba.njit(cache=True)`, kept elsewhere."""
    chosen = _numba.CACHE_DIR
    _numba.CACHE_DIR = str(cache_folder())  # numba asks for it here, and other people's functions stay theirs
    try:
        made = numba.njit(cache=True)(function)
    finally:
        _numba.CACHE_DIR = chosen
    _announcement.kernels.add(made)
    return made


def cache_folder() -> Path:
    """Where compiled functions are kept: NUMBA_CACHE_DIR if it is set, otherwise in the user's cache folder."""
    return Path(_numba.CACHE_DIR or user_cache() / "wiser" / "kernels")


def user_cache() -> Path:
    """The user's folder for what can be made again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


class _Announcement(event.Listener):
    """Says why nothing seems to happen, when the first of our functions is compiled and not found in the cache."""

    def __init__(self) -> None:
        self.kernels: set[Any] = set()
        self.said = False

    def on_start(self, event: Any) -> None:
        if self.said or event.data["dispatcher"] not in self.kernels:
            return
        self.said = True
        print("Compiling WISER's kernels, once on this machine: about half a minute", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


_announcement = _Announcement()
event.register("numba:compile", _announcement)
