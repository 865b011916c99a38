"""`wiser report RESULTS`: the figures, tables and the page of one or more sweeps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from wiser.evaluate import LedgerError
from wiser.report.assemble import assemble
from wiser.report.page import render
from wiser.report.replays import collect_replays
from wiser.report.results import ReportError, read_sweep
from wiser.report.training import read_runs

PAGE, TABLES = "report.html", "tables.md"


def report(
    results: Annotated[tuple[Path, ...], tyro.conf.Positional],
    runs: Path | None = None,
    replays: tuple[Path, ...] = (),
    out: Path | None = None,
) -> int:
    """Draw what sweeps have measured: figures, tables, and one page with all of them.

    Args:
        results: folders of sweeps, each with its ledger.
        runs: folder of training runs, for learning curves.
        replays: pages of episodes to link, as `wiser eval --record NAME.html` writes them; copied beside the report.
        out: where to write; by default `figures` in the folder of the sweep, or beside the folders of several.
    """
    console = Console()
    try:
        made, absent = write_report(results, runs, out, replays)
    except (ReportError, LedgerError, OSError) as error:
        console.print(f"[red]{error}[/]")
        return 2
    for title in absent:
        console.print(f"[yellow]left out: {title}; the page says what it needs[/]")
    console.print(f"{made / PAGE}")
    return 0


def write_report(
    results: tuple[Path, ...], runs: Path | None, out: Path | None, replays: tuple[Path, ...] = ()
) -> tuple[Path, list[str]]:
    """Write the report; returns its folder and the titles of what there are no data for."""
    if not results:
        raise ReportError("name at least one folder of a sweep, such as results/quick")
    made = assemble([read_sweep(folder) for folder in results], [] if runs is None else read_runs(runs))
    folder = out or _beside(results) / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    made.save_figures(folder)
    (folder / TABLES).write_text(made.markdown())
    (folder / PAGE).write_text(render(made, folder, collect_replays(replays, folder)))
    return folder, [kind.title for kind in made.absent]


def _beside(results: tuple[Path, ...]) -> Path:
    return (
        results[0] if len(results) == 1 else Path(os.path.commonpath([folder.absolute().parent for folder in results]))
    )
