"""`wiser report RESULTS`: the figures, tables and the page of one or more sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console


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
    from wiser.evaluate import LedgerError
    from wiser.report.results import ReportError
    from wiser.report.write import PAGE, write_report

    console = Console()
    try:
        made, absent = write_report(results, runs, out, replays)
    except (ReportError, LedgerError, OSError) as error:
        console.print(str(error), style="red", markup=False)
        return 2
    for title in absent:
        console.print(f"[yellow]left out: {title}; the page says what it needs[/]")
    console.print(f"{made / PAGE}")
    return 0
