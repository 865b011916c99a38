"""`wiser eval` and `wiser sweep`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wiser import seeds
from wiser.envs.domain import domain_of, find_task, measures_of
from wiser.envs.options import Options
from wiser.evaluate import statistics
from wiser.evaluate.benchmark import describe, mean_measures
from wiser.evaluate.engines import Engine, engine_by_name
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.ledger import Ledger
from wiser.evaluate.plan import Plan
from wiser.evaluate.records import Episode
from wiser.evaluate.tables import has_arrow
from wiser.evaluate.treatments import Treatment, find_treatment
from wiser.evaluate.watch import RecordEpisode
from wiser.faults import Scenario
from wiser.guard.calibration import beside
from wiser.record import About, Recorder, check_target
from wiser.record import export as export_recording
from wiser.rollout import Trial
from wiser.spoken import spoken
from wiser.threads import use_threads
from wiser.worldmodel.store import load

NOTHING: Mapping[str, Any] = {}
QUIET = 60.0
"""Seconds between lines of progress where there is no terminal to draw a bar in."""


@spoken()
def evaluate(
    agent: Annotated[str, tyro.conf.Positional],
    env: Annotated[str, tyro.conf.Positional],
    treatments: tuple[str, ...] = ("none", "greedy"),
    fault: str | None = None,
    broken: int = 1,
    intensity: float = 1.0,
    proportion: float = 1.0,
    onset: int = 0,
    blind_limit: int | None = None,
    episodes: int = 16,
    rows: int | None = None,
    seed: int = seeds.TRYING.start,
    env_options: Options = NOTHING,
    record: Path | None = None,
    threads: int | None = None,
) -> int:
    """Drive episodes with an agent, its sensors broken or not, and compare ways to treat them.

    Args:
        agent: a shipped agent or a model folder.
        env: a task (FourLane, StopSign, ...) or a Gymnasium id, also in the form package.module:Name-v0.
        treatments: of the sensors: none, greedy, exhaustive, calibrated, random, median, reject, predict.
        fault: what breaks sensors; `wiser faults` shows all of them. None leaves them clean.
        broken: how many fail, drawn for each episode.
        intensity: how badly; 0 is clean, 1 severe.
        proportion: share of the steps at which they are broken.
        onset: first step at which anything breaks.
        blind_limit: steps without a trusted sensor after which the environment's safe action is taken, if it has one.
        episodes: how many, the same ones for every treatment.
        rows: environments side by side; all episodes at once by default.
        seed: of the first episode; by default those that no published figure uses.
        env_options: what to tell the environment, KEY=VALUE ..., each value as YAML has it.
        record: write the first episode of every treatment to this file: .html, .mp4, .gif, .rrd or .npz.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    use_threads(threads)
    console, model, task = Console(), load(agent), find_task(env)
    scenario = None
    if fault is not None:
        scenario = Scenario(
            faults=(fault,), sensors=broken, intensity=intensity, proportion=proportion, onset=onset, seed=seed
        )
    trial = Trial(task.env, episodes, seed, scenario, env_options, rows)
    chosen = {name: replace(find_treatment(name), blind_limit=blind_limit) for name in treatments}
    recorder = None if record is None else _recorder(model, agent, trial, tuple(chosen), record)
    for name, treatment in chosen.items():
        driven = _drive(model, treatment, trial, recorder, name)
        console.print(_line(name, driven, task.env, seed), highlight=False)
    if recorder is not None and record is not None:
        console.print(f"Recorded: {export_recording(recorder.recording(), record)}")
    return 0


def _recorder(model: Any, agent: str, trial: Trial, lanes: tuple[str, ...], target: Path) -> Recorder:
    """A recorder whose recording can be written to `target`, which is checked before anything is driven."""
    check_target(target)
    what = describe(trial.disturbance) if isinstance(trial.disturbance, Scenario) else "clean"
    speed = domain_of(trial.env).steps_per_second
    about = About(f"{agent}: {what}", trial.env, agent, (trial.seed,), steps_per_second=speed)
    return Recorder(model.sensors, {name: name for name in lanes}, about, beside(model.folder, model.digest))


def _drive(model: Any, treatment: Treatment, trial: Trial, recorder: Recorder | None, lane: str) -> list[Episode]:
    if recorder is None:
        return run_episodes(model, treatment, trial)
    fault = trial.disturbance.name if trial.disturbance else ""
    return run_episodes(model, treatment, trial, RecordEpisode(recorder, lane, model, fault), watched=(0,))


def _line(name: str, driven: list[Episode], env: str, seed: int) -> str:
    """How a treatment did, in a line."""
    score = statistics.mean([[episode.score for episode in driven]], np.random.default_rng(seed))
    declared = measures_of(env)
    more = "".join(f", {declared[key].title} {declared[key].text(value)}" for key, value in mean_measures(driven).items())
    return (
        f"{name:16s} score {score.value:8.1f} ({score.low:.1f} to {score.high:.1f}, 95 %){more}, "
        f"{len(driven)} episodes"
    )


@spoken("Stopped. The same command goes on from here.")
def sweep(
    plan: Annotated[str, tyro.conf.Positional],
    out: Path | None = None,
    episodes: int | None = None,
    engine: Literal["local", "ray"] = "local",
    workers: int = 2,
    address: str | None = None,
    export: bool = True,
) -> int:
    """Run the cells of a plan that are not in its ledger yet. Stopped or killed, it goes on where it was.

    Args:
        plan: a preset (quick, driving-multi, driving-single, ...) or a YAML file.
        out: folder of the ledger; results/PLAN by default.
        episodes: of each cell, instead of the plan's.
        engine: processes on this machine, or a Ray cluster.
        workers: cells under way at once.
        address: of a running Ray cluster; none starts one here.
        export: also write CSV and Parquet tables at the end.
    """
    folder = out or Path("results") / Path(plan).stem
    return _sweep(plan, folder, episodes, engine_by_name(engine, workers, address), export)


def _sweep(name: str, folder: Path, episodes: int | None, engine: Engine, export: bool) -> int:
    plan, console = Plan.read(name), Console()
    jobs = (plan if episodes is None else replace(plan, episodes=episodes)).jobs()
    ledger = Ledger.of(folder)
    finished = ledger.finished()
    missing = [job for job in jobs if job.cell.key not in finished]
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[cell]}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("cells", total=len(jobs), completed=len(jobs) - len(missing), cell="starting workers")
        spoken_at = time.monotonic()
        for cell, driven, seconds in engine.run(missing):
            ledger.write(cell, driven, seconds)
            bar.update(task, advance=1, cell=f"{cell.task} {cell.disturbance} x{cell.failures} {cell.contender}")
            if not console.is_terminal and time.monotonic() - spoken_at >= QUIET:
                spoken_at = time.monotonic()
                state = bar.tasks[task]
                minutes = (state.time_remaining or 0) / 60
                console.print(f"{state.completed:.0f} of {len(jobs)} cells, {minutes:.0f} minutes left")
    if export:
        ledger.export(folder)
        if not has_arrow():
            console.print("No Parquet table without pyarrow (the extra `evaluate`); the CSV files have everything.")
    console.print(f"{len(jobs)} cells in {ledger.path}")
    return 0
