"""Run the cells of a plan that are not in its ledger yet, with progress."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wiser.checks import check_folder
from wiser.envs.domain import find_task
from wiser.evaluate.contenders import find_agent
from wiser.evaluate.engines import Engine
from wiser.evaluate.ledger import Ledger
from wiser.evaluate.plan import Job, Plan, disturbance_of
from wiser.evaluate.rehearse import rehearse
from wiser.evaluate.tables import has_arrow
from wiser.extras import install_hint
from wiser.rollout import mention_home

QUIET = 60.0
"""Seconds between lines of progress where there is no terminal to draw a bar in."""


def run_plan(plan: Plan, folder: Path, engine: Engine, export: bool) -> Ledger:
    """Run what is missing and, if asked to, export tables. Stopped or killed, the next call goes on from there."""
    console = Console()
    jobs = plan.jobs()
    check_folder(folder)
    rehearse_jobs(jobs)
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
            hint = install_hint("evaluate")
            console.print(f"No Parquet table without pyarrow: {hint}; CSV has it all.", markup=False)
    console.print(f"{len(jobs)} cells in {ledger.path}", soft_wrap=True)
    return ledger


def rehearse_jobs(jobs: Sequence[Job]) -> None:
    """Find out what cannot be driven before any worker starts: each agent once in each task, with all that is wrong."""
    together: dict[tuple[str, str, str], list[Job]] = {}
    for job in jobs:
        together.setdefault((job.cell.task, job.agent, job.cell.options), []).append(job)
    for (task, agent, options), group in together.items():
        model, env = find_agent(agent), find_task(task).env
        wrong = {(job.cell.disturbance, job.cell.failures): disturbance_of(job.cell) for job in group}
        treated = {job.cell.treatment: job.treatment for job in group}
        rehearse(model, env, json.loads(options or "{}"), wrong.values(), treated.values(), group[0].processes)
        mention_home(model, env)
