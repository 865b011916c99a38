"""From sweeps to a report: every kind of figure and table that their data allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wiser.report import (
    alarms,
    failures,
    levels,
    masks,
    overall,
    resilience,
    rivals,
    search,
    summaries,
    surfaces,
    surprise,
    training,
)
from wiser.report.exhibit import Exhibit, Kind
from wiser.report.results import ReportError, Sweep
from wiser.report.style import house_style, save, slug

KINDS = (
    surprise.KIND, overall.KIND, summaries.KIND, rivals.KIND, failures.KIND, surfaces.KIND, levels.KIND, search.KIND,
    training.KIND, resilience.KIND, alarms.KIND, masks.KIND,
)  # fmt: skip


@dataclass(frozen=True)
class Report:
    """All exhibits in their order, and the kinds that no sweep has data for."""

    sweeps: tuple[Sweep, ...]
    exhibits: tuple[Exhibit, ...]
    absent: tuple[Kind, ...]

    def save_figures(self, folder: Path) -> None:
        """Write every figure in all formats."""
        for exhibit in self.exhibits:
            if exhibit.figure is not None:
                with house_style(exhibit.name):
                    save(exhibit.figure, folder / exhibit.name)

    def markdown(self) -> str:
        """All tables under their captions."""
        parts = ["# Tables", ""]
        for exhibit in self.exhibits:
            if exhibit.tables:
                parts += [f"## {exhibit.title}", "", exhibit.caption, ""]
            for table in exhibit.tables:
                parts += [f"### {table.title}", "", table.markdown(), ""]
        for kind in self.absent:
            parts += [f"{kind.title} is left out. {kind.needs}", ""]
        return "\n".join(parts)


def assemble(sweeps: Sequence[Sweep], runs: Sequence[training.Run] = ()) -> Report:
    """Draw everything; training runs, if there are any, replace the clean scores of finished agents."""
    if len({sweep.name for sweep in sweeps}) < len(sweeps):
        raise ReportError("two of these folders have the same name, and so would their figures: report them one by one")
    exhibits, absent = [], []
    with house_style():
        for kind in KINDS:
            if kind is training.KIND and runs:
                found = [training.learning_curves(list(runs))]
            else:
                found = [_of(sweep, exhibit, len(sweeps)) for sweep in sweeps for exhibit in kind.exhibits(sweep)]
            exhibits += found
            absent += [] if found else [kind]
    return Report(tuple(sweeps), tuple(exhibits), tuple(absent))


def _of(sweep: Sweep, exhibit: Exhibit, sweeps: int) -> Exhibit:
    """The exhibit, with the sweep in its name and title if there are several."""
    if sweeps == 1:
        return exhibit
    return replace(exhibit, name=f"{slug(sweep.name)}-{exhibit.name}", title=f"{exhibit.title} ({sweep.name})")
