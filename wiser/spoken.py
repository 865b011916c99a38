"""What a command says when it cannot go on: one line and an exit code, no traceback."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

from rich.console import Console

P = ParamSpec("P")
MISTAKE, INTERRUPTED = 2, 130


def spoken(stopped: str = "Stopped.") -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Let a command end with a line on standard error and an exit code where it raises what a user can mend.

    `stopped` is what it says to Ctrl-C.
    """

    def wrap(command: Callable[P, int]) -> Callable[P, int]:
        @functools.wraps(command)
        def run(*args: P.args, **kwargs: P.kwargs) -> int:
            try:
                return command(*args, **kwargs)
            except BrokenPipeError:  # nobody reads on, which is no mistake
                raise
            except (ValueError, OSError, ImportError, RuntimeError) as error:
                complain(_line(error))
                return MISTAKE
            except KeyboardInterrupt:
                complain(stopped, style="")
                return INTERRUPTED

        return run

    return wrap


def complain(text: str, style: str = "red") -> None:
    """Say it on standard error; brackets are meant as they stand."""
    Console(stderr=True).print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def warn(text: str) -> None:
    """Say on standard error what may be meant so, and may not."""
    complain(text, style="yellow")


def _line(error: Exception) -> str:
    """What went wrong, in one line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
