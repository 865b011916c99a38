"""World-model agents that keep working when their sensors fail."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from wiser import __version__
from wiser.spoken import INTERRUPTED, complain

COMMANDS = {
    "agents": ("wiser.commands.agents:agents", "list the agents that are here"),
    "calibrate": ("wiser.commands.calibrate:calibrate", "measure what is normal for an agent, kept beside its weights"),
    "cockpit": ("wiser.commands.cockpit:cockpit", "break an agent's sensors with a click and watch, on a live page"),
    "demo": ("wiser.commands.demo:demo", "drive with a shipped agent: clean, broken, broken and guarded"),
    "doctor": ("wiser.commands.doctor:doctor", "is all here that is needed, and what to do if not"),
    "drive": ("wiser.commands.drive:drive", "film the scripted expert of an environment"),
    "eval": ("wiser.commands.evaluate:evaluate", "drive episodes with an agent and compare ways to treat its sensors"),
    "faults": ("wiser.commands.faults:faults", "draw every way in which sensors fail"),
    "learn": ("wiser.commands.learn:learn", "train a score or a denoiser for rejection, kept beside an agent"),
    "report": ("wiser.commands.report:report", "figures, tables and a page from sweeps"),
    "sweep": ("wiser.commands.sweep:sweep", "run a grid of tasks, disturbances and contenders; resumable"),
    "train": ("wiser.commands.train:train", "train an agent, or go on with a run"),
    "video": ("wiser.commands.video:video", "break videos, let a video world model judge and go on, score what comes"),
    "worst": ("wiser.commands.worst:worst", "search for what hurts an agent most, however its sensors are treated"),
}
"""{name: (module:function, what it does)}. Only the chosen one is imported: most of them bring torch along."""


def main() -> None:
    """Run one command and end with its status."""
    try:
        try:
            status = run(sys.argv[1:])
        finally:
            sys.stdout.flush()  # here: when the interpreter ends, a reader that left would be a traceback
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except KeyboardInterrupt:  # before the command itself, which says more, has begun
        complain("Stopped.", style="")
        status = INTERRUPTED
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run the command that the first argument names with the options after it; returns its exit status."""
    listed = "\n".join(f"  {name:11}{about}" for name, (_, about) in COMMANDS.items())
    parser = argparse.ArgumentParser(
        "wiser", "wiser COMMAND ...", __doc__, f"commands:\n{listed}\n\nwiser COMMAND --help has the options of one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help=argparse.SUPPRESS)
    parser.add_argument("--version", action="version", version=f"wiser {__version__}", help="show which this is")
    chosen = parser.parse_args(arguments[:1] or ["--help"]).command
    module, function = COMMANDS[chosen][0].split(":")
    command = getattr(import_module(module), function)
    if chosen == "train":  # presets decide the defaults of its options, so it reads them first
        return int(command(arguments[1:]))
    import tyro

    status = tyro.cli(command, prog=f"wiser {chosen}", args=list(arguments[1:]), config=(tyro.conf.OmitArgPrefixes,))
    return status if isinstance(status, int) else 0
