"""Every command line in the README and the guides is one that the command line takes."""

import functools
import inspect
import re
import shlex
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest

from wiser.cli import COMMANDS, run
from wiser.commands import train
from wiser.train.config import TrainConfig

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = {"SEED": "0", "VARIANT": "dropout"}
"""What stands for a word that the reader is to replace, where a command checks it."""
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def found(start: str) -> list[tuple[str, str, bool]]:
    """(page, what follows `start`, whether it stands on a line of its own in a block) for every such command."""
    commands = []
    for page in PAGES:
        text = page.read_text()
        blocks = "\n".join(FENCE.findall(text))
        whole = re.findall(rf"^(?:torchrun .* -m )?{start} ([^#\n]+)", blocks, re.MULTILINE)
        mentioned = re.findall(rf"`{start} ([^`]+)`", FENCE.sub("", text))
        for alone, lines in ((True, whole), (False, mentioned)):
            commands += [(page.name, " ".join(line.split()), alone) for line in lines]
    return commands


WISER, PYTHON = found("wiser"), found("python")


def options_of(command: str) -> set[str]:
    """All options that a command's help names."""
    with redirect_stdout(StringIO()) as said, pytest.raises(SystemExit):
        run([command, "--help"])
    return set(re.findall(r"--[a-z][\w-]*", said.getvalue()))


@pytest.fixture
def nothing_runs(monkeypatch) -> None:
    """Commands read their options as ever, and do nothing."""
    for module, function in (target.split(":") for target, _ in COMMANDS.values()):
        if function != "train":
            command = getattr(import_module(module), function)
            stub = functools.wraps(command)(lambda *args, **kwargs: 0)
            stub.__signature__ = inspect.signature(command)
            monkeypatch.setattr(f"{module}.{function}", stub)
    monkeypatch.setattr(train, "_run", lambda config, folder, console: None)
    monkeypatch.setattr(train, "_config_of", lambda run, names: TrainConfig())


def test_commands_are_found() -> None:
    commands = {line.split()[0] for _, line, _ in WISER}
    assert {"demo", "eval", "calibrate", "cockpit", "train", "sweep", "report"} <= commands
    assert sum(alone for *_, alone in WISER) > 20
    assert len(PYTHON) > 10


@pytest.mark.parametrize(("page", "line"), [(page, line) for page, line, alone in WISER if alone])
def test_a_documented_command_is_understood(page, line, nothing_runs) -> None:
    assert run([EXAMPLES.get(word, word) for word in shlex.split(line)]) == 0


@pytest.mark.parametrize(("page", "line"), [(page, line) for page, line, alone in WISER if not alone])
def test_a_mentioned_command_has_these_options(page, line) -> None:
    command, *words = line.split()
    assert command in {*COMMANDS, "COMMAND"}
    asked = {word.partition("=")[0] for word in words if word.startswith("--")} - {"--help"}
    assert not asked or asked <= options_of(command)


@pytest.mark.parametrize(("page", "line"), [(page, line) for page, line, _ in PYTHON])
def test_a_documented_script_is_there_with_its_options(page, line) -> None:
    script, *words = shlex.split(line)
    if script == "-m":
        spec = find_spec(words[0])
        assert spec is not None
        path = Path(spec.origin or "")
    else:
        path = ROOT / script
    source = path.read_text()
    for option in (word.removeprefix("--").removeprefix("no-") for word in words if word.startswith("--")):
        assert option.replace("-", "_") in source or option in source


def test_the_check_can_fail(nothing_runs) -> None:
    with pytest.raises(SystemExit):
        run(["eval", "stop-sign/dropout", "StopSign", "--methods", "greedy"])
    assert "--methods" not in options_of("eval")
