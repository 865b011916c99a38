"""A report in a folder: figures, tables and the page of one or more sweeps."""

from __future__ import annotations

import os
from pathlib import Path

from wiser.checks import check_folder
from wiser.report.assemble import assemble
from wiser.report.page import render
from wiser.report.replays import copy_replays, read_titles
from wiser.report.results import ReportError, read_sweep
from wiser.report.training import read_runs

PAGE, TABLES = "report.html", "tables.md"


def write_report(
    results: tuple[Path, ...], runs: Path | None, out: Path | None, replays: tuple[Path, ...] = ()
) -> tuple[Path, list[str]]:
    """Write the report; returns its folder and the titles of what there are no data for."""
    if not results:
        raise ReportError("name at least one folder of a sweep, such as results/quick")
    folder = out or _beside(results) / "figures"
    check_folder(folder)
    titles = read_titles(replays)
    made = assemble([read_sweep(folder) for folder in results], [] if runs is None else read_runs(runs))
    folder.mkdir(parents=True, exist_ok=True)
    made.save_figures(folder)
    (folder / TABLES).write_text(made.markdown())
    (folder / PAGE).write_text(render(made, folder, copy_replays(titles, folder)))
    return folder, [kind.title for kind in made.absent]


def _beside(results: tuple[Path, ...]) -> Path:
    return (
        results[0] if len(results) == 1 else Path(os.path.commonpath([folder.absolute().parent for folder in results]))
    )
