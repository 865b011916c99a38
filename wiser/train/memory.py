"""How this process holds memory."""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # of glibc's malloc.h


def keep_freed_memory() -> None:
    """Reuse freed memory instead of giving it back to the system, where the C library can be told so (glibc).

    By default every large tensor is new memory, which the kernel hands out page by page and zeroed: a quarter of the
    time of an update with images and convolutions. The process then stays as large as it ever was.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_MMAP_MAX, 0)
        mallopt(_M_TRIM_THRESHOLD, -1)
