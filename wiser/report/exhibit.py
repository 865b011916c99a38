"""What a report is made of: figures and tables, each with a caption that says how its numbers came about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure

from wiser.envs.domain import references
from wiser.evaluate.statistics import RESAMPLES, Estimate
from wiser.report.results import Point, Setting, Sweep

NOTHING = "–"
INTERVAL = f"95 % bootstrap interval over episodes ({RESAMPLES:,} resamples)"
POOLED = f"95 % bootstrap interval, episodes resampled, the same in all cells ({RESAMPLES:,} resamples)"
"""For numbers over several cells that share their episodes."""
ONE_AGENT = "One trained agent each: intervals do not cover other training runs."
NAMED = 6
"""Missing cells that a caption names before it counts the rest."""


@dataclass(frozen=True)
class Table:
    """Rows of text under a header."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """As a Markdown table."""
        lines = (self.header, ("---",) * len(self.header), *self.rows)
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


@dataclass(frozen=True)
class Exhibit:
    """One figure, its tables, or both."""

    name: str
    """Stem of its files."""
    title: str
    caption: str
    figure: Figure | None = None
    alt: str = ""
    """What the figure shows, for those who cannot see it."""
    tables: tuple[Table, ...] = ()
    surfaces: dict[str, Any] = field(default_factory=dict)
    """What the page needs to draw the figure so that it can be turned."""


@dataclass(frozen=True)
class Kind:
    """A kind of exhibit, and what a sweep must have for it."""

    title: str
    needs: str
    """A sentence for the page when no sweep has it."""
    exhibits: Callable[[Sweep], Iterator[Exhibit]]
    """None at all if the sweep has no data for it."""


def how_measured(points: Iterable[Point], interval: str = INTERVAL) -> str:
    """Episodes, seeds and interval behind some points, for captions."""
    points = list(points)
    episodes = [point.episodes for point in points]
    strata = {driven for point in points for driven in point.scores}
    seeds, runs = sorted({driven.seed for driven in strata}), [len({d.run for d in point.scores}) for point in points]
    agents = ONE_AGENT
    if max(runs, default=1) > 1:
        agents = (
            f"Agents of {_span(runs)} training runs each: intervals draw the runs anew as well as the episodes, "
            "which all runs share."
        )
    return (
        f"{_span(episodes)} episodes per point ({'seed' if len(seeds) == 1 else 'seeds'} {_listed(seeds)}); "
        f"{interval}. {agents}"
    )


def dashed(tasks: Iterable[str]) -> str:
    """A sentence on the lines of reference, where any of the tasks has them."""
    return "Dashed: the scripted expert and a random policy. " if any(map(references, tasks)) else ""


def missing_from(sweep: Sweep, expected: Iterable[Setting]) -> str:
    """A sentence on the expected settings that the ledger lacks; empty if it has them all."""
    expected = list(dict.fromkeys(expected))
    missing = [setting for setting in expected if setting not in sweep.points]
    if not missing:
        return ""
    named = [describe(setting) for setting in missing[:NAMED]]
    rest = [f"and {len(missing) - NAMED} more"] if len(missing) > NAMED else []
    return f" Not in the ledger: {len(missing)} of {len(expected)} cells ({'; '.join(named + rest)})."


def describe(setting: Setting) -> str:
    """A setting in a few words."""
    if setting.clean:
        return f"{setting.task} {setting.contender} clean"
    harm = "" if (setting.intensity, setting.proportion) == (1, 1) else f" {setting.intensity:g}/{setting.proportion:g}"
    return f"{setting.task} {setting.contender} {setting.disturbance}{harm} x{setting.failures}"


def sensors(number: int) -> str:
    """So many sensors, in words."""
    return f"{number} sensor" if number == 1 else f"{number} sensors"


def harm(setting: Setting) -> str:
    """How much is broken, and for how long, in words."""
    return f"{sensors(setting.failures)} broken at {100 * setting.proportion:g} % of the steps"


def figure_text(value: float | None, digits: int = 2) -> str:
    """A number with a true minus sign, and none before zero; a dash if there is no number."""
    if value is None:
        return NOTHING
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.lstrip("-")).replace("-", "−")


def estimate_text(estimate: Estimate | None, digits: int = 0) -> str:
    """A value with its interval, or a dash."""
    if estimate is None:
        return NOTHING
    value, low, high = (figure_text(number, digits) for number in (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def _span(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def _listed(numbers: list[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)
