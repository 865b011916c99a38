"""Would the tests notice? Breaks the library in one way at a time and runs the tests that must fail.

`python experiments/mutants.py` copies the library and its tests, checks that the tests named in `mutants.yaml` pass
there, applies one mutation after another to a copy and says which of them no test noticed. The last line is
`mutants_killed ratio=...`; anything below 1.00 is a promise nobody checks.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

import tyro
import yaml

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".yaml")
COPIED, LINKED = ("wiser", "tests", "pyproject.toml"), ("models", "docs", "examples", "README.md")
PATIENCE = 600  # seconds after which a run counts as hung, which is noticed too
PASSED, FAILED = 0, 1  # of pytest's exit codes


class Mutant(NamedTuple):
    """One way to break the library."""

    name: str
    file: str
    """Under `wiser/`."""
    old: str
    new: str
    tests: str
    """Of which one must fail, as pytest takes them, separated by blanks; under `tests/`."""


def read_table() -> list[Mutant]:
    """All mutants of the table beside this file. Each old text must be found once, or the table is out of date."""
    table = yaml.safe_load(TABLE.read_text())
    mutants = [Mutant(name, file, **texts) for file, entries in table.items() for name, texts in entries.items()]
    problems = []
    for mutant in mutants:
        path = ROOT / "wiser" / mutant.file
        found = path.read_text().count(mutant.old) if path.is_file() else 0
        if found != 1 or mutant.old == mutant.new:
            problems.append(f"{mutant.name}: {mutant.old!r} occurs {found} times in {mutant.file}")
        if sum(mutant.name == other.name for other in mutants) > 1:
            problems.append(f"{mutant.name}: the name of two mutants")
    if problems:
        raise SystemExit("\n".join(problems))
    return mutants


class Result(NamedTuple):
    """What became of a mutant."""

    mutant: Mutant
    code: int
    """Of pytest; `FAILED` is what one hopes for."""
    seconds: float
    said: str


class Copy:
    """The library and its tests in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name)  # with compiled code and its times, which stay valid
            else:
                shutil.copy2(source, folder / name)
        for name in LINKED:
            (folder / name).symlink_to(ROOT / name)

    def run(self, tests: str) -> tuple[int, str]:
        """Exit code of pytest and what it said; a hung run has failed."""
        words = [f"tests/{word}" if ".py" in word else word for word in tests.split()]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *words]
        environment = {
            **os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"
        }  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return FAILED, "hung"
        return done.returncode, done.stdout + done.stderr

    def try_out(self, mutant: Mutant) -> Result:
        """Break the copy, run the tests that must notice, and mend it."""
        path = self.folder / "wiser" / mutant.file
        text, times = path.read_text(), path.stat()
        began = time.perf_counter()
        try:
            path.write_text(text.replace(mutant.old, mutant.new))
            code, said = self.run(mutant.tests)
        finally:
            path.write_text(text)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        return Result(mutant, code, time.perf_counter() - began, said)


def check_tests(copies: list[Copy], mutants: list[Mutant]) -> None:
    """Everything named passes in copies that are whole; otherwise a failure later on would mean nothing."""
    whole = f"import wiser; assert wiser.__file__.startswith({str(copies[0].folder)!r}), wiser.__file__"
    subprocess.run([sys.executable, "-c", whole], cwd=copies[0].folder, check=True)
    named = sorted({mutant.tests for mutant in mutants})
    files = sorted({word for tests in named for word in tests.split() if ".py" in word})
    parts = [(copy, " ".join(files[i :: len(copies)])) for i, copy in enumerate(copies)]
    with ThreadPoolExecutor(len(copies)) as pool:
        for code, said in pool.map(lambda part: part[0].run(part[1]) if part[1] else (PASSED, ""), parts):
            if code != PASSED:
                raise SystemExit(f"the tests do not pass as it is:\n{said}")


def main(workers: int = 2, only: tuple[str, ...] = ()) -> None:
    """Run the campaign.

    Args:
        workers: copies that are tried out side by side.
        only: names of mutants or of files, or parts of them; all by default.
    """
    began = time.perf_counter()
    mutants = [mutant for mutant in read_table() if not only or any(part in str(mutant[:2]) for part in only)]
    if not mutants:
        raise SystemExit(f"no mutant is called {' or '.join(only)}")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Copy(_new(Path(folder) / str(number))) for number in range(workers)]
        check_tests(copies, mutants)
        print(f"{len(mutants)} mutants; unbroken, the tests pass ({time.perf_counter() - began:.0f} s)", flush=True)
        free: Queue[Copy] = Queue()
        for copy in copies:
            free.put(copy)

        def attempt(mutant: Mutant) -> Result:
            copy = free.get()
            try:
                return copy.try_out(mutant)
            finally:
                free.put(copy)

        survivors: list[Result] = []
        with ThreadPoolExecutor(workers) as pool:
            for result in pool.map(attempt, mutants):
                killed = result.code == FAILED
                print(
                    f"{'killed  ' if killed else 'SURVIVED'} {result.seconds:6.1f} s  {result.mutant.name}", flush=True
                )
                if not killed:
                    survivors.append(result)
    for result in survivors:
        print(f"survivor: {result.mutant.name} ({result.mutant.file}), pytest says {result.code}")
        if result.code != PASSED:
            print(result.said)
    print(f"{time.perf_counter() - began:.0f} s")
    print(f"mutants_killed ratio={1 - len(survivors) / len(mutants):.2f}")
    sys.exit(bool(survivors))


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    tyro.cli(main)
