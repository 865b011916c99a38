"""What greedy selection loses against the search through all subsets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from wiser.envs.domain import references
from wiser.evaluate import statistics
from wiser.evaluate.records import CLEAN
from wiser.evaluate.statistics import Estimate
from wiser.report import style
from wiser.report.exhibit import POOLED, Exhibit, Kind, Table, estimate_text, figure_text, how_measured
from wiser.report.results import Pairs, Setting, Sweep, pairs, pool

TITLE = "Greedy against exhaustive selection"
GREEDY, EXHAUSTIVE = "confident", "exhaustive"


@dataclass(frozen=True)
class Duel:
    """Greedy minus exhaustive in one setting, over the episodes that both drove."""

    setting: Setting
    """With the greedy method."""
    scores: Pairs
    """Ours are those of the greedy method."""

    @property
    def difference(self) -> Estimate:
        """Mean difference of the paired scores."""
        return paired([self])


def duels(sweep: Sweep) -> list[Duel]:
    """Every setting that both methods have, of tasks with reference scores: differences are measured in these."""
    found = []
    for setting in sorted(s for s in sweep.points if s.contender == GREEDY and references(s.task)):
        other = sweep.points.get(setting._replace(contender=EXHAUSTIVE))
        if other is not None and (common := pairs(sweep.points[setting], other)):
            found.append(Duel(setting, common))
    return found


def paired(found: list[Duel]) -> Estimate:
    """Mean difference over some settings, in expert-normalised units; all settings of a task draw the same episodes."""
    both = pool(((duel.setting, duel.scores) for duel in found), normalised=True)
    return statistics.paired_difference(
        both.ours, both.theirs, np.random.default_rng(0), clusters=both.clusters, runs=both.runs
    )


def draw(found: list[Duel]) -> Figure:
    """One panel per task: the difference at each number of failures, faults side by side."""
    tasks = list(dict.fromkeys(duel.setting.task for duel in found))
    faults = sorted({duel.setting.disturbance for duel in found if duel.setting.failures})
    figure, axes = style.panels(1, len(tasks), 2.2, sharey=True)
    looks = {CLEAN: {"color": style.INK, "marker": "_"}, **style.looks(faults)}
    offsets = dict(zip(faults, np.linspace(-0.3, 0.3, len(faults)) if len(faults) > 1 else [0.0], strict=True))
    for panel, task in zip(axes[0], tasks, strict=True):
        ours = [duel for duel in found if duel.setting.task == task]
        for fault in (CLEAN, *faults):
            chosen = [duel for duel in ours if duel.setting.disturbance == fault]
            values = [duel.difference for duel in chosen]
            panel.errorbar(
                [duel.setting.failures + offsets.get(fault, 0.0) for duel in chosen],
                [value.value for value in values],
                [[v.value - v.low for v in values], [v.high - v.value for v in values]],
                linestyle="none", elinewidth=0.7, markersize=3, **looks[fault],
                label="clean" if fault == CLEAN else fault,
            )  # fmt: skip
        mean = paired(ours)
        panel.axhspan(mean.low, mean.high, color=style.INK, alpha=0.1, linewidth=0)
        panel.axhline(mean.value, color=style.INK, linewidth=0.8)
        panel.axhline(0, color=style.INK, linewidth=0.5, linestyle=(0, (4, 3)), alpha=0.6)
        panel.set_title(f"{style.spaced(task)}: mean {figure_text(mean.value, 3)}")
        panel.set_xlabel("failed sensors")
        panel.set_xticks(sorted({duel.setting.failures for duel in ours}))
    axes[0, 0].set_ylabel("greedy − exhaustive\n(0 random, 1 expert)")
    style.legend(figure, axes[0, 0], len(faults) + 1)
    return figure


def exhibits(sweep: Sweep) -> Iterator[Exhibit]:
    """The figure and the mean differences."""
    if not (found := duels(sweep)):
        return
    groups = {task: [duel for duel in found if duel.setting.task == task] for task in sweep.tasks}
    groups = {task: group for task, group in groups.items() if group}
    rows = [(style.spaced(task), str(len(group)), estimate_text(paired(group), 3)) for task, group in groups.items()]
    if len(groups) > 1:
        rows.append(("all", str(len(found)), estimate_text(paired(found), 3)))
    header = ("task", "settings", "greedy − exhaustive")
    alone = len({setting for setting in sweep.points if setting.contender in (GREEDY, EXHAUSTIVE)}) - 2 * len(found)
    yield Exhibit(
        "search",
        TITLE,
        "Difference of the scores in the same episodes under the same faults, as a share of the way from a random "
        "policy to the expert; below 0 exhaustive selection is better. Line and band: mean over a task. "
        + how_measured((sweep.points[duel.setting] for duel in found), f"bars and band: {POOLED}, paired")
        + (f" {alone} cells lack their counterpart and are left out." if alone else ""),
        draw(found),
        f"Differences between greedy and exhaustive selection for {', '.join(map(style.spaced, groups))}.",
        (Table(f"{TITLE}: mean difference", header, tuple(rows)),),
    )


KIND = Kind(TITLE, f"It needs the methods {GREEDY} and {EXHAUSTIVE}, clean or broken, in one sweep.", exhibits)
