"""The command line answers at once, by its own name, and without a traceback when nobody reads on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import wiser
from wiser.cli import COMMANDS
from wiser.evaluate import plan
from wiser.evaluate.treatments import TREATMENTS

ROOT = Path(__file__).parents[1]
PLANS = [path.stem for path in plan.PLANS.glob("*.yaml")]
HEAVY = {"torch", "cv2", "matplotlib", "gymnasium", "numba", "numpy"}


def run(*command: str, **options) -> subprocess.CompletedProcess:
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT, **options}
    return subprocess.run([sys.executable, *command], check=False, **options)


def loaded_by(code: str) -> set[str]:
    """Heavy modules in the process after some code."""
    done = run("-c", f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)")
    assert done.returncode == 0, done.stderr
    return HEAVY & set(done.stderr.split())


def help_of(*arguments: str) -> str:
    return f"""
from wiser.cli import run
try:
    run({list(arguments)})
except SystemExit as end:
    assert end.code == 0
"""


def test_importing_the_library_loads_nothing_heavy():
    assert loaded_by("import wiser") == set()


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), *((name, "--help") for name in COMMANDS)])
def test_help_loads_nothing_heavy(arguments):
    assert loaded_by(help_of(*arguments)) == set()


def test_what_the_library_offers_comes_when_it_is_asked_for():
    for name in wiser.__all__:
        assert getattr(wiser, name).__name__ == name
        assert name in dir(wiser)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = wiser.nothing


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_by_the_name_it_is_called_by(name):
    done = run("-m", "wiser", name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: wiser {name}")


@pytest.mark.parametrize(("command", "known"), [("eval", TREATMENTS), ("cockpit", TREATMENTS), ("sweep", PLANS)])
def test_help_lists_what_can_be_named(command, known):
    words = run("-m", "wiser", command, "--help").stdout.translate(str.maketrans(",.:", "   ")).split()
    assert set(known) <= set(words)


@pytest.mark.parametrize(("command", "names"), [
    ("eval", ("AGENT", "ENV")), ("calibrate", ("AGENT", "ENV")), ("drive", ("ENV",)), ("sweep", ("PLAN",)),
    ("demo", ("--agent AGENT", "--env ENV")), ("report", ("RESULTS",)),
])  # fmt: skip
def test_help_says_what_is_wanted(command, names):
    shown = run("-m", "wiser", command, "--help").stdout
    assert all(name in shown for name in names)


def test_help_lists_all_commands_and_bare_wiser_is_help():
    done = run("-m", "wiser", "--help")
    assert done.stdout.startswith("usage: wiser COMMAND")
    for name in COMMANDS:
        assert f"\n  {name} " in done.stdout
    assert run("-m", "wiser").stdout == done.stdout


def test_the_version_is_the_library_s():
    assert run("-m", "wiser", "--version").stdout == f"wiser {wiser.__version__}\n"


def test_an_unknown_command_is_one_line_and_an_error():
    done = run("-m", "wiser", "evaluate")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("wiser: error: argument COMMAND: invalid choice: 'evaluate'")


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("agents",), ("faults", "--help")])
def test_a_reader_that_leaves_is_no_traceback(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = run("-m", "wiser", *arguments, stdout=writer, env={**os.environ, "PYTHONUNBUFFERED": ""})
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 1
