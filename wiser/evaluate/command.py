"""`wiser sweep PRESET`: run what is missing of a plan, and keep it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wiser.evaluate.engines import Engine, engine_by_name
from wiser.evaluate.ledger import Ledger
from wiser.evaluate.sweep import Plan

LEDGER = "ledger.sqlite"


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
        console.print(f"[red]{error}[/]")
        return 2
    except KeyboardInterrupt:
        console.print("Stopped. The same command goes on from here.")
        return 130


def _sweep(plan: Plan, folder: Path, steps: int | None, engine: Engine, export: bool, console: Console) -> int:
    plan = plan if steps is None else replace(plan, steps=steps)
    ledger = Ledger.open(folder / LEDGER)
    cells = plan.cells()
    missing = [cell for cell in cells if cell.key not in ledger.finished()]
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[cell]}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("cells", total=len(cells), completed=len(cells) - len(missing), cell="starting workers")
        for cell, episodes, seconds in engine.run(missing):
            ledger.write(cell, episodes, seconds)
            bar.update(task, advance=1, cell=f"{cell.task} {cell.fault} x{cell.failures} {cell.method}")
    if export:
        ledger.export(folder)
    console.print(f"{len(cells)} cells in {ledger.path}")
    return 0
