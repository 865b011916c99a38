"""`wiser eval AGENT` drives some episodes; `wiser sweep PLAN` runs what is missing of a plan, and keeps it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wiser import seeds
from wiser.evaluate import statistics
from wiser.evaluate.benchmark import describe
from wiser.evaluate.engines import Engine, engine_by_name
from wiser.evaluate.ledger import Ledger
from wiser.evaluate.methods import Method
from wiser.evaluate.rollout import Trial, rollout
from wiser.evaluate.sweep import Plan
from wiser.evaluate.watch import RecordRow
from wiser.faults import Scenario
from wiser.guard.calibration import beside
from wiser.record import About, Recorder
from wiser.record import export as export_recording
from wiser.threads import use_threads
from wiser.worldmodel.store import load

QUIET = 60.0
"""Seconds between lines of progress where there is no terminal to draw a bar in."""


def evaluate(
    agent: Annotated[str, tyro.conf.Positional],
    env: Annotated[str, tyro.conf.Positional],
    methods: tuple[str, ...] = ("none", "greedy"),
    fault: str | None = None,
    broken: int = 1,
    intensity: float = 1.0,
    proportion: float = 1.0,
    onset: int = 0,
    episodes: int = 16,
    seed: int = seeds.TRYING.start,
    record: Path | None = None,
    threads: int | None = None,
) -> int:
    """Drive episodes with an agent, its sensors broken or not, and compare ways to treat them.

    Args:
        agent: a shipped agent or a model folder.
        env: Gymnasium id of the environment, such as wiser/FourLane-v0.
        methods: ways to select sensors: none, greedy, exhaustive, calibrated, random.
        fault: what breaks sensors; `wiser faults` shows all of them. None leaves them clean.
        broken: how many fail, drawn for each episode.
        intensity: how badly; 0 is clean, 1 severe.
        proportion: share of the steps at which they are broken.
        onset: first step at which anything breaks.
        episodes: driven side by side, the same ones for every method.
        seed: of the first episode; by default those that no published figure uses.
        record: write the first episode of every method to this file: .html, .mp4, .gif, .rrd or .npz.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    use_threads(threads)
    console = Console()
    try:
        model = load(agent)
        scenario = None
        if fault is not None:
            scenario = Scenario(
                faults=(fault,), sensors=broken, intensity=intensity, proportion=proportion, onset=onset, seed=seed
            )
        about = About(f"{agent}: {describe(scenario) if scenario else 'clean'}", env, agent, (seed,))
        recorder = Recorder(model.sensors, {name: name for name in methods}, about, beside(model.folder, model.digest))
        for name in methods:
            watch = RecordRow(recorder, name, model, fault or "") if record else None
            driven = rollout(model, Method("", name), Trial(env, episodes, seed, scenario), watch)
            score = statistics.mean([[episode.score for episode in driven]], np.random.default_rng(seed))
            success = np.mean([bool(episode.success) for episode in driven])
            console.print(
                f"{name:12s} score {score.value:8.1f} ({score.low:.1f} to {score.high:.1f}, 95 %), "
                f"success {success:.0%}, {episodes} episodes"
            )
        if record:
            console.print(f"Recorded: {export_recording(recorder.recording(), record)}")
    except ValueError as error:
        console.print(f"[red]{error}[/]")
        return 2
    return 0


def sweep(
    plan: Annotated[str, tyro.conf.Positional],
    out: Path | None = None,
    steps: int | None = None,
    engine: Literal["local", "ray"] = "local",
    workers: int = 2,
    address: str | None = None,
    export: bool = True,
) -> int:
    """Run the cells of a plan that are not in its ledger yet. Stopped or killed, it goes on where it was.

    Args:
        plan: a preset (quick, driving-multi, driving-single, ...) or a YAML file.
        out: folder of the ledger; results/PLAN by default.
        steps: budget of each cell, instead of the plan's.
        engine: processes on this machine, or a Ray cluster.
        workers: cells under way at once.
        address: of a running Ray cluster; none starts one here.
        export: also write CSV and Parquet tables at the end.
    """
    console = Console()
    folder = out or Path("results") / Path(plan).stem
    try:
        return _sweep(Plan.read(plan), folder, steps, engine_by_name(engine, workers, address), export, console)
    except (ValueError, RuntimeError) as error:
        console.print(str(error), style="red", markup=False)  # it may name an extra in brackets
        return 2
    except KeyboardInterrupt:
        console.print("Stopped. The same command goes on from here.")
        return 130


def _sweep(plan: Plan, folder: Path, steps: int | None, engine: Engine, export: bool, console: Console) -> int:
    plan = plan if steps is None else replace(plan, steps=steps)
    ledger = Ledger.of(folder)
    cells = plan.cells()
    finished = ledger.finished()
    missing = [cell for cell in cells if cell.key not in finished]
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[cell]}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("cells", total=len(cells), completed=len(cells) - len(missing), cell="starting workers")
        spoken = time.monotonic()
        for cell, episodes, seconds in engine.run(missing):
            ledger.write(cell, episodes, seconds)
            bar.update(task, advance=1, cell=f"{cell.task} {cell.fault} x{cell.failures} {cell.method}")
            if not console.is_terminal and time.monotonic() - spoken >= QUIET:
                spoken = time.monotonic()
                state = bar.tasks[task]
                minutes = (state.time_remaining or 0) / 60
                console.print(f"{state.completed:.0f} of {len(cells)} cells, {minutes:.0f} minutes left")
    if export:
        ledger.export(folder)
    console.print(f"{len(cells)} cells in {ledger.path}")
    return 0
