"""`wiser train PRESET ... [--field value ...]`: typed options on top of presets that stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wiser.spoken import INTERRUPTED, MISTAKE, complain, spoken
from wiser.train.config import TrainConfig, preset_names, stack


@dataclass
class Options:
    """Train an agent, or go on with a run: `wiser train driving/four-lane nano dropout --updates 5000`."""

    config: TrainConfig = field(default_factory=TrainConfig)
    """What the presets before the options leave to say."""
    out: Path | None = None
    """Folder of the run; runs/PRESETS by default, or runs/ENV without any."""
    resume: Path | None = None
    """Go on with the run in this folder; with --updates N, up to so many."""


def train(arguments: Sequence[str] = ()) -> int:
    """Train an agent: `wiser train PRESET ... [--field value ...]`, or `wiser train --resume RUN`."""
    names: list[str] = []
    while len(names) < len(arguments) and not arguments[len(names)].startswith("-"):
        names.append(arguments[len(names)])
    if not arguments:
        complain(f"name presets or a run to go on with (--resume RUN). Presets stack: {', '.join(preset_names())}")
        return MISTAKE
    return spoken(stopped="")(_train)(names, list(arguments[len(names) :]))


def _train(names: list[str], words: list[str]) -> int:
    resumed = _value_of("--resume", words)
    config = stack(names) if resumed is None else _config_of(Path(resumed), names)
    options = tyro.cli(
        Options, args=words, default=Options(config=config), prog="wiser train PRESET ...",
        config=(tyro.conf.OmitArgPrefixes,), description=f"Presets: {', '.join(preset_names())}.",
    )  # fmt: skip
    called = "-".join(names or [options.config.env]).replace("/", "-").replace(":", "-")
    folder = options.resume or options.out or Path("runs") / called
    try:
        _run(options.config, folder, console := Console())
    except KeyboardInterrupt:
        begun = (folder / "config.yaml").exists()
        complain(f"Stopped. Go on with: wiser train --resume {folder}" if begun else "Stopped.", style="")
        return INTERRUPTED
    console.print(f"Agent: {folder / 'model'}    Log: {folder / 'log.jsonl'}", soft_wrap=True)
    return 0


def _value_of(option: str, words: list[str]) -> str | None:
    """What an option is given, before all of them are read."""
    for place, word in enumerate(words):
        if word == option:
            return next(iter(words[place + 1 :]), None)
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None


def _config_of(run: Path, names: list[str]) -> TrainConfig:
    from wiser.train.checkpoint import config_of

    if names:
        raise ValueError(f"a run that goes on has its own settings: leave out {' '.join(names)}")
    return config_of(run)


def _run(config: TrainConfig, folder: Path, console: Console) -> None:
    from wiser.train.loop import train as run

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[state]}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(config.env, total=config.updates, state="collecting first experience")

        def report(line: dict[str, Any]) -> None:
            if "score" in line:
                console.print(_scored(config, line), soft_wrap=True)
            else:
                bar.update(task, completed=line["update"], state=f"{line['rate']:.0f} transitions/s")

        run(config, folder, report)


def _scored(config: TrainConfig, line: Mapping[str, Any]) -> str:
    """What an evaluation came to."""
    from wiser.envs.domain import domain_of

    chance = f" (a random policy {line['random_score']:.1f})" if "random_score" in line else ""
    summed = "".join(f", {name} {line[name]:.2f}" for name in domain_of(config.env).summaries)
    return (
        f"update {line['update']}: score {line['score']:.1f} ± {line['score_std']:.1f}{chance}{summed}, "
        f"{config.evaluate_episodes} held-out episodes"
    )
