"""`wiser train PRESET ... [--field value ...]`: typed options on top of presets that stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wiser.train import checkpoint
from wiser.train import config as presets
from wiser.train.config import TrainConfig
from wiser.train.loop import train as run


@dataclass
class Options:
    """Train an agent, or go on with a run: `wiser train driving/four-lane nano dropout --updates 5000`."""

    config: TrainConfig = field(default_factory=TrainConfig)
    """What the presets before the options leave to say."""
    out: Path | None = None
    """Folder of the run; runs/PRESETS by default."""
    resume: Path | None = None
    """Go on with the run in this folder; its own config counts."""


def train(arguments: Sequence[str] = ()) -> int:
    """Train an agent: `wiser train PRESET ... [--field value ...]`, or `wiser train --resume RUN`."""
    names: list[str] = []
    while len(names) < len(arguments) and not arguments[len(names)].startswith("-"):
        names.append(arguments[len(names)])
    console = Console()
    try:
        default = Options(config=presets.stack(names))
        options = tyro.cli(
            Options, args=list(arguments[len(names) :]), default=default, prog="wiser train PRESET ...",
            config=(tyro.conf.OmitArgPrefixes,),
        )  # fmt: skip
        folder = options.resume or options.out or Path("runs") / "-".join(names).replace("/", "-")
        config = checkpoint.config_of(folder) if options.resume else options.config
        _run(config, folder, console)
    except ValueError as error:
        console.print(f"[red]{error}[/]")
        return 2
    except KeyboardInterrupt:
        console.print(f"Stopped. Go on with: wiser train --resume {folder}")
        return 130
    console.print(f"Agent: {folder / 'model'}    Log: {folder / 'log.jsonl'}")
    return 0


def _run(config: TrainConfig, folder: Path, console: Console) -> None:
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[state]}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(config.env, total=config.updates, state="collecting first experience")

        def report(line: dict[str, Any]) -> None:
            if "score" in line:
                console.print(
                    f"update {line['update']}: score {line['score']:.1f} ± {line['score_std']:.1f}, "
                    f"{config.evaluate_episodes} held-out episodes"
                )
            else:
                bar.update(task, completed=line["update"], state=f"{line['rate']:.0f} transitions/s")

        run(config, folder, report)
