"""World-model agents that keep working when their sensors fail."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import tyro

from wiser.calibrate import calibrate
from wiser.cockpit.command import cockpit
from wiser.demo import demo
from wiser.doctor import doctor
from wiser.drive import drive
from wiser.evaluate.command import evaluate, sweep
from wiser.faults.gallery import gallery
from wiser.report.command import report
from wiser.train.command import train

COMMANDS: dict[str, Callable[..., Any]] = {
    "calibrate": calibrate,
    "cockpit": cockpit,
    "demo": demo,
    "drive": drive,
    "doctor": doctor,
    "eval": evaluate,
    "faults": gallery,
    "report": report,
    "sweep": sweep,
    "train": train,
}


def main() -> None:
    """Run one subcommand; its options and help are the fields or arguments it declares."""
    if sys.argv[1:2] == ["train"]:  # presets decide the defaults of its options, so it reads them first
        sys.exit(train(sys.argv[2:]))
    status = tyro.extras.subcommand_cli_from_dict(COMMANDS, description=__doc__, config=(tyro.conf.OmitArgPrefixes,))
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
