"""Run the cells of a plan that are not in its ledger yet, with progress."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wiser.evaluate.engines import Engine
from wiser.evaluate.ledger import Ledger
from wiser.evaluate.plan import Plan
from wiser.evaluate.tables import has_arrow
from wiser.extras import install_hint

QUIET = 60.0
"""Seconds between lines of progress where there is no terminal to draw a bar in."""


def run_plan(plan: Plan, folder: Path, episodes: int | None, engine: Engine, export: bool) -> Ledger:
    """Run what is missing and, if asked to, export tables. Stopped or killed, the next call goes on from there."""
    console = Console()
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
            hint = install_hint("evaluate")
            console.print(f"No Parquet table without pyarrow: {hint}; CSV has it all.", markup=False)
    console.print(f"{len(jobs)} cells in {ledger.path}", soft_wrap=True)
    return ledger
