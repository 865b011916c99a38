"""Pictures without a screen: the GL library that draws them."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes.util import find_library
from functools import cache
from importlib import import_module
from typing import Any

from wiser.envs.safety.package import mujoco

Free = Callable[[], None]
LIBRARIES = {"osmesa": "OSMesa", "egl": "EGL"}
"""By MuJoCo's names for them, in order of preference: the first one draws the same on every machine."""
_in_use: set[Free] = set()
_left: list[Free] = []


@cache
def context_kind() -> Any:
    """The class of MuJoCo's GL contexts: as MUJOCO_GL says, else the first of `LIBRARIES`; ImportError if none is here.

    Without MUJOCO_GL, MuJoCo itself would ask for a screen. Software draws in the thread that asks: threads of its own
    would not live on in a process that is forked, and small pictures are no quicker with them.
    """
    os.environ.setdefault("LP_NUM_THREADS", "0")
    chosen = os.environ.get("MUJOCO_GL", "").lower()
    if not sys.platform.startswith("linux") or chosen not in ("", *LIBRARIES):
        return mujoco.GLContext
    found = [name for name, library in LIBRARIES.items() if chosen in ("", name) and find_library(library)]
    if not found:
        wanted = " or ".join(f"lib{LIBRARIES[name]}" for name in ([chosen] if chosen else LIBRARIES))
        raise ImportError(
            f"the cameras of Safety Gymnasium are drawn by {wanted}, which is not here: "
            "apt-get install libosmesa6 (or libegl1 and libgl1-mesa-dri)"
        )
    return import_module(f"mujoco.{found[0]}").GLContext


@contextmanager
def current(context: Any) -> Iterator[None]:
    """Draw in a context of MuJoCo's. Afterwards no thread has it: EGL gives it to no other one before."""
    context.make_current()
    try:
        yield
    finally:
        library = sys.modules[type(context).__module__]
        if library.__name__ == "mujoco.egl":
            library.EGL.eglReleaseThread()
        elif library.__name__ == "mujoco.osmesa":
            library.osmesa.OSMesaMakeCurrent(None, None, library.GL.GL_FLOAT, 0, 0)


def use(free: Free) -> None:
    """Have a context freed when the process ends, at the latest: later there is no more Python to do it.

    What was registered last is done first: MuJoCo closes EGL when the process ends, and has registered that by now.
    """
    _in_use.add(free)
    atexit.unregister(_end)
    atexit.register(_end)


def leave(free: Free) -> None:
    """Nobody needs a context any more: whoever draws next frees it, before it begins.

    The garbage collector may run between two calls of a drawing, and freeing takes the current context away.
    """
    _in_use.discard(free)
    _left.append(free)


def clear_up() -> None:
    """Free what was left."""
    while _left:
        _left.pop()()


def _end() -> None:
    for free in tuple(_in_use):
        leave(free)
    clear_up()
