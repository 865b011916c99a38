"""`wiser demo`: learn a small world, break its sensors, and compare the unguarded with the guarded agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from wiser.demo.learn import build, collect, train
from wiser.demo.picture import draw_story
from wiser.demo.puck import STEPS, PuckWorld, locate
from wiser.faults import Scenario, SensorFaults
from wiser.guard import Guard
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.store import save

ONSET, ROWS, HELD_OUT = 10, 64, 700_000
METHODS = {"unguarded": "none", "guarded": "greedy"}
CASES = [(None, 0), ("glare", 1), ("glare", 3), ("lag", 2), ("lag", 3), ("gaussian", 3), ("missing", 3), ("freeze", 1)]


@dataclass
class Demo:
    """Train a world model of a puck on a table for a minute, then break its sensors."""

    out: Path = Path("demo")
    """Folder for the model and the picture."""
    updates: int = 500
    """Gradient steps of training."""
    seed: int = 0
    """Seed of weights, data and training; evaluation uses other episodes."""
    threads: int = 2
    """Torch threads."""


@dataclass
class Run:
    """What happened in one batch of episodes."""

    frames: list[dict[str, Any]] = field(default_factory=list)
    """Observations of the first row, as the agent saw them."""
    seen: list[NDArray[Any]] = field(default_factory=list)
    """What the agent believes the overhead camera shows, first row."""
    error: list[NDArray[Any]] = field(default_factory=list)
    """Distance between believed and true position, (B,) per step; the table is 2 wide."""
    trusted: list[NDArray[Any]] = field(default_factory=list)
    """(N,) per step, first row."""
    broken: list[NDArray[Any]] = field(default_factory=list)
    """(N,) per step, first row: the truth."""
    surprise: list[float] = field(default_factory=list)
    """First row."""


def episodes(model: DreamerV3, selection: str, fault: str | None, sensors: int, seed: int = HELD_OUT) -> Run:
    """Run `ROWS` held-out episodes under one fault. Puck, pushes and faults are the same for every method."""
    world = PuckWorld(ROWS)
    scenario = Scenario(
        faults=(fault or "gaussian",), sensors=max(sensors, 1), onset=ONSET, seed=seed, intensity=1.0 if fault else 0.0
    )
    env, guard, run = SensorFaults(world, scenario), Guard(model, selection, rows=ROWS), Run()
    pushes = np.random.default_rng(seed).integers(0, 5, (STEPS, ROWS))
    obs, info = env.reset(seed=seed)
    for step in range(STEPS - 1):
        _, verdict = guard.act(obs)
        believed = model.decode(guard.belief)["overhead"].numpy()  # (B, SIZE, SIZE, 3)
        run.error.append(np.linalg.norm(locate(believed) - world.position, axis=1))
        run.frames.append({name: np.array(x[0]) for name, x in obs.items()})
        run.seen.append(believed[0])
        run.trusted.append(verdict.trusted[0])
        run.broken.append(info["broken_sensors"][0])
        run.surprise.append(float(verdict.surprise[0]))
        guard.executed(pushes[step])
        obs, _, _, _, info = env.step(pushes[step])
    return run


def demo(options: Demo) -> None:
    """Train a world model of a puck on a table for a minute, then break its sensors."""
    console = Console()
    torch.set_num_threads(options.threads)
    model = _learn(options, console)
    table = Table(title=f"Position error after sensors break (table is 2 wide; {ROWS} episodes each, mean ± 95 %)")
    for column in ("fault", "broken", *METHODS):
        table.add_column(column, justify="left" if column == "fault" else "right")
    runs: dict[tuple[str | None, int], dict[str, Run]] = {}
    with console.status("Breaking sensors ..."):
        for fault, count in CASES:
            runs[fault, count] = {name: episodes(model, how, fault, count) for name, how in METHODS.items()}
            table.add_row(fault or "none", f"{count} of 4", *(_error(run) for run in runs[fault, count].values()))
    console.print(table)
    story = runs["glare", 3]
    picture = draw_story(story["unguarded"], story["guarded"], ONSET, options.out / "demo.png")
    console.print(
        "The guard is never told what is broken. It costs a little on clean sensors and does not see through every\n"
        "fault: a frozen but plausible sensor fools it, for the least surprising reading is not always the true one."
    )
    console.print(f"Model: {options.out / 'puck'}    Picture: {picture}")


def _learn(options: Demo, console: Console) -> DreamerV3:
    model = build(options.seed)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("Learning the world", total=options.updates)
        train(model, collect(options.seed), options.updates, options.seed, lambda loss: bar.advance(task))
    save(model, options.out / "puck")
    return model


def _error(run: Run) -> str:
    """Mean over episodes of the error after onset, with its 95 % interval."""
    per_episode = np.stack(run.error[ONSET + 1 :]).mean(0)  # (B,)
    half = 1.96 * per_episode.std(ddof=1) / np.sqrt(len(per_episode))
    return f"{per_episode.mean():.3f} ± {half:.3f}"
