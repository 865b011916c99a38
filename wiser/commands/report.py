"""`wiser report RESULTS`: the figures, tables and the page of one or more sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from wiser.spoken import spoken, warn


@spoken()
def report(
    results: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[RESULTS ...]")],
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
    from wiser.report.write import PAGE, write_report

    made, absent = write_report(results, runs, out, replays)
    for title in absent:
        warn(f"left out: {title}; the page says what it needs")
    Console().print(f"{made / PAGE}", soft_wrap=True)
    return 0
