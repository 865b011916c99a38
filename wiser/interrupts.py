"""Ctrl-C where processes are started: it goes to all of them at once, and only the first has something to say."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C wait until the block is over; processes that it starts never hear it, who asked for them ends them.

    Where the system has no signal masks, nothing is different.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by what is started
    try:
        with _noted():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _noted() -> Iterator[None]:
    """Ctrl-C may reach another thread, which masks nothing; Python raises it in the main one all the same."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
