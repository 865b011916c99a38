"""Commands as people type them, one after another in one process: `python -m tests.wrong_inputs < CASES > OUTCOMES`.

A case is a JSON object a line: the words after `wiser`, a module that is to be missing, seconds until Ctrl-C, which
comes after PATIENCE in any case. So is an outcome: exit code, what was said on either stream, and which files of the
current folder are new, changed or gone.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import traceback
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from wiser.cli import run

PATIENCE = 15.0


def files() -> dict[str, tuple[int, int]]:
    """{path: (size, time of change)} of all there is in the current folder."""
    found = {str(path): path.stat() for path in Path().rglob("*")}
    return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in found.items() if not Path(path).is_dir()} | {
        path: (0, 0) for path in found if Path(path).is_dir()
    }


@contextmanager
def missing(module: str):
    """No such module can be imported."""
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == module}
    sys.modules[module] = None
    try:
        yield
    finally:
        del sys.modules[module]
        sys.modules.update(hidden)


@contextmanager
def interrupted(after: float):
    """Somebody presses Ctrl-C so many seconds later."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what runs in the background without

    def press(_, frame) -> None:
        names = {place.f_code.co_name for place, _ in traceback.walk_stack(frame)}
        if "__del__" in names:  # it swallows whatever is raised
            signal.setitimer(signal.ITIMER_REAL, 0.01)
        else:
            os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def outcome(words: list[str], without: str, after: float) -> dict:
    before, out, err = files(), io.StringIO(), io.StringIO()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        missing(without or "nothing at all"),
        interrupted(after or PATIENCE),
    ):
        try:
            code = run(words)
        except SystemExit as end:
            code = end.code
        except BaseException as error:
            code = f"raised {error!r}"
    now = files()
    touched = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
    return {"code": code, "out": out.getvalue(), "err": err.getvalue(), "touched": touched}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(outcome(**json.loads(line))), flush=True)
