"""The paper's table from trials: each fault, without a gate and with each, and the difference with its interval."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from wiser import seeds
from wiser.evaluate.statistics import RESAMPLES, Estimate, mean, paired_difference
from wiser.files import write_atomic
from wiser.guard import Mode
from wiser.report.style import house_style, legend, looks, panels, save
from wiser.video.trials import CLEAN, Trial

UNITS = {"psnr": "PSNR, dB", "ssim": "SSIM"}
TRIALS, TABLE, FIGURE = "trials.csv", "table.md", "video"
ABREAST = 3
"""Panels of the figure; the next ones stand below."""
SELDOM = 0.05
"""What is so seldom on one level is not one level."""


@dataclass(frozen=True)
class Row:
    """One fault, or all of them together, by one measure."""

    fault: str
    base: Estimate
    gated: Estimate
    difference: Estimate

    @property
    def better(self) -> bool:
        """Whether the interval of the difference lies above 0."""
        return self.difference.low > 0


@dataclass(frozen=True)
class Spread:
    """How far the faults lie apart that a gate leaves worst and best."""

    worst: str
    best: str
    gap: float
    share: float
    """Of resamples in which all faults have one level: how many lie at least as far apart, whichever are then worst
    and best."""

    @property
    def one_level(self) -> bool:
        """Whether one level is compatible with what was seen."""
        return self.share >= SELDOM


class Table:
    """All rows of a comparison: `gate` against no gate. Clips are drawn together over faults and seeds."""

    def __init__(self, trials: Sequence[Trial], gate: str) -> None:
        self.trials, self.gate = trials, gate
        self.faults = list(dict.fromkeys(trial["fault"] for trial in trials if trial["fault"] != CLEAN))
        self.clips = list(dict.fromkeys(trial["clip"] for trial in trials))
        scored = sorted(name for name in trials[0] if name.startswith("quality/") and self._whole(name))
        self.measures = [*UNITS, *scored]

    def rows(self, measure: str) -> list[Row]:
        """Of each fault, then of all together."""
        return [self.row((fault,), measure, fault) for fault in self.faults] + [
            self.row(tuple(self.faults), measure, "overall")
        ]

    def clean(self, measure: str) -> Row:
        """Of clips that nothing was done to."""
        return self.row((CLEAN,), measure, "clean")

    def row(self, faults: tuple[str, ...], measure: str, title: str) -> Row:
        """Of some faults together."""
        base, labels = self._strata("none", faults, measure)
        gated, _ = self._strata(self.gate, faults, measure)
        rng = seeds.generator("video/table", 0)
        return Row(
            title,
            mean(base, rng, clusters=labels),
            mean(gated, rng, clusters=labels),
            paired_difference(gated, base, rng, clusters=labels),
        )

    def spread(self, measure: str) -> Spread:
        """How far the faults lie apart as the gate leaves them, and whether that could be so on one level."""
        strata, labels = self._strata(self.gate, tuple(self.faults), measure)
        scores = np.array(strata)  # (faults, trials)
        levels = scores.mean(1)
        worst, best = int(levels.argmin()), int(levels.argmax())
        gap = float(levels[best] - levels[worst])
        drawn = _drawn_means(scores - levels[:, None], labels[0], seeds.generator("video/table", 0))
        share = float((np.ptp(drawn, axis=1) >= gap).mean())
        return Spread(self.faults[worst], self.faults[best], gap, share)

    def base_spread(self, measure: str) -> float:
        """How far apart the faults are without a gate."""
        return float(np.ptp(np.mean(self._strata("none", tuple(self.faults), measure)[0], axis=1)))

    def untouched(self) -> tuple[int, int]:
        """Of the clean frames of clean clips that the gate judged: how many it accepted as they are."""
        clean = [trial for trial in self.trials if trial["fault"] == CLEAN and trial["gate"] == self.gate]
        judged = sum(trial[f"{mode.name.lower()}/clean"] for trial in clean for mode in Mode)
        return sum(trial["grounded/clean"] for trial in clean), judged

    def caught(self, fault: str) -> tuple[int, int]:
        """Of the broken frames: how many were not accepted as they are."""
        chosen = [trial for trial in self.trials if trial["fault"] == fault and trial["gate"] == self.gate]
        judged = sum(trial[f"{mode.name.lower()}/broken"] for trial in chosen for mode in Mode)
        return judged - sum(trial["grounded/broken"] for trial in chosen), judged

    def _strata(self, gate: str, faults: tuple[str, ...], measure: str) -> tuple[list[list[float]], list[list[str]]]:
        """Scores and the clips they belong to, a stratum for each fault, in one order for all gates."""
        found = [[t for t in self.trials if t["gate"] == gate and t["fault"] == fault] for fault in faults]
        ordered = [sorted(group, key=lambda trial: (trial["clip"], trial["seed"])) for group in found]
        scores = [[float(trial[measure]) for trial in group] for group in ordered]
        return scores, [[str(trial["clip"]) for trial in group] for group in ordered]

    def _whole(self, measure: str) -> bool:
        return all(trial.get(measure) is not None for trial in self.trials)


class Comparison:
    """Several gates, each against no gate, on the same trials."""

    def __init__(self, trials: Sequence[Trial], gates: Sequence[str]) -> None:
        self.trials, self.tables = trials, [Table(trials, gate) for gate in gates]
        self.titles = [*self.tables[0].faults, "overall", "clean"]

    def columns(self, measure: str) -> dict[str, list[Estimate]]:
        """Without a gate and with each, of each fault, all of them together, and clean clips."""
        rows = {table.gate: [*table.rows(measure), table.clean(measure)] for table in self.tables}
        base = next(iter(rows.values()))
        return {"none": [row.base for row in base], **{gate: [row.gated for row in rows[gate]] for gate in rows}}


def _drawn_means(scores: NDArray[np.float64], clips: Sequence[str], rng: np.random.Generator) -> NDArray[np.float64]:
    """Means of (faults, trials) in resamples of whole clips, the same clips for all faults: (resamples, faults)."""
    names, clip_of = np.unique(clips, return_inverse=True)
    often = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), RESAMPLES)[:, clip_of]  # (R, trials)
    return often @ scores.T / often.sum(1, keepdims=True)


def markdown(found: Comparison, about: Mapping[str, Any]) -> str:
    """All gates side by side, then each by itself with the claims judged, and how it was made."""
    first = found.tables[0]
    lines = [
        f"{len(first.clips)} clips. " + "; ".join(f"{name} {_told(value)}" for name, value in about.items()) + ".",
        "",
    ]
    for measure in first.measures:
        columns = found.columns(measure)
        lines += [f"## {UNITS.get(measure, measure)}", "", f"| fault | {' | '.join(columns)} |"]
        lines += [f"| {' | '.join(['---'] * (1 + len(columns)))} |"]
        for title, *row in zip(found.titles, *columns.values(), strict=True):
            lines.append(f"| {title} | {' | '.join(map(_shown, row))} |")
        lines.append("")
    for table in found.tables:
        lines += [f"# Gate: {table.gate}", "", *_alone(table)]
    return "\n".join(lines).rstrip() + "\n"


def _told(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _alone(table: Table) -> list[str]:
    """The paper's table of one gate."""
    lines = []
    for measure in table.measures:
        lines += [f"## {table.gate}: {UNITS.get(measure, measure)}", ""]
        lines += ["| fault | base | gated | difference | relative | caught |", "| --- | --- | --- | --- | --- | --- |"]
        lines += [_line(row, table) for row in [*table.rows(measure), table.clean(measure)]]
        lines += ["", *_claims(table, measure), ""]
    kept, judged = table.untouched()
    if judged:
        lines += [f"On clean clips it left {kept} of {judged} frames as they are ({kept / judged:.1%}).", ""]
    return lines


def _claims(table: Table, measure: str) -> list[str]:
    """Better under every fault? Back to one level?"""
    better = [row.fault for row in table.rows(measure)[:-1] if row.better]
    found, base = table.spread(measure), table.base_spread(measure)
    judged = "is compatible with one level" if found.one_level else "is not one level"
    return [
        f"- Better with an interval above 0: {len(better)} of {len(table.faults)} ({', '.join(better) or 'none'}).",
        f"- One level? Gated, the faults lie {found.gap:.3g} apart ({found.worst} to {found.best}). Put on one level, "
        f"{found.share:.1%} of resamples lie as far apart: this {judged}. Without a gate {base:.3g}.",
    ]


def _line(row: Row, table: Table) -> str:
    share = f"{row.difference.value / row.base.value:+.1%}" if row.base.value else ""
    caught, judged = table.caught(CLEAN if row.fault == "clean" else row.fault)
    hits = f"{caught / judged:.0%}" if judged else ""
    cells = (row.fault, _shown(row.base), _shown(row.gated), _shown(row.difference, "+"), share, hits)
    return f"| {' | '.join(cells)} |"


def _shown(estimate: Estimate, sign: str = "") -> str:
    return f"{estimate.value:{sign}.3g} ({estimate.low:{sign}.3g} to {estimate.high:{sign}.3g})"


def write_results(found: Comparison, folder: Path, about: Mapping[str, Any]) -> None:
    """All trials as CSV, the table, and the figure."""
    names = list(dict.fromkeys(name for trial in found.trials for name in trial))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found.trials)
    write_atomic(folder / TRIALS, text.getvalue().encode())
    write_atomic(folder / TABLE, markdown(found, about).encode())
    draw(found, folder / FIGURE)


def draw(found: Comparison, stem: Path) -> None:
    """Base and every gate side by side, a panel for each measure; bars are 95 % intervals."""
    measures = found.tables[0].measures
    with house_style(stem.name):
        columns = min(len(measures), ABREAST)
        figure, grid = panels(-(-len(measures) // columns), columns, 2.0)
        axes = grid.ravel().tolist()
        for axis, measure in zip(axes, measures, strict=False):
            _panel(axis, found, measure)
        for spare in axes[len(measures) :]:
            spare.remove()
        legend(figure, axes[0], len(found.tables) + 1)
        save(figure, stem)


def _panel(axis: Axes, found: Comparison, measure: str) -> None:
    titles, columns = found.titles, found.columns(measure)
    shifts = 0.2 * (np.arange(len(columns)) - (len(columns) - 1) / 2)
    for shift, (gate, look) in zip(shifts, looks(list(columns)).items(), strict=True):
        values = np.array([estimate.value for estimate in columns[gate]])
        error = [values - [e.low for e in columns[gate]], [e.high for e in columns[gate]] - values]
        label = "base" if gate == "none" else f"gate: {gate}"
        axis.errorbar(np.arange(len(titles)) + shift, values, error, linestyle="none", label=label, **look)
    axis.set_xticks(range(len(titles)), titles, rotation=30)
    axis.set_ylabel(UNITS.get(measure, measure))
