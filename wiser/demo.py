"""Drive with a shipped agent, break most of its sensors, and watch it with and without a guard: `wiser demo`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from wiser import seeds
from wiser.envs.domain import domain_of, measures_of
from wiser.evaluate import statistics
from wiser.evaluate.benchmark import mean_measures
from wiser.evaluate.episodes import Watch, run_episodes
from wiser.evaluate.records import Episode
from wiser.evaluate.rehearse import rehearse
from wiser.evaluate.treatments import find_treatment, resolve_name
from wiser.evaluate.watch import RecordEpisode
from wiser.faults import Scenario
from wiser.guard.calibration import beside
from wiser.record import About, Recorder, Sample, to_html
from wiser.rollout import Moment, Trial, Wave, mention_home
from wiser.worldmodel.protocol import WorldModel
from wiser.worldmodel.store import load

FIRST_SEED = seeds.DEMO.start
ONSET = 60
CLEAN, BROKEN, GUARDED = "clean", "broken, no guard", "broken, guarded"
LANES = {CLEAN: "none", BROKEN: "none", GUARDED: "auto"}
Driven = dict[str, list[Episode]]
"""{lane: its episodes}."""
Recorders = Mapping[int, Recorder]
"""{number of an episode: what records it}."""


def run_demo(agent: str, env: str, fault: str, broken: int, episodes: int, out: Path) -> None:
    """Drive the same episodes with clean sensors, with broken ones, and with broken ones under guard; write pages.

    All are driven before it is known which ones are worth a look; those are recorded when all are driven again.
    """
    console, model = Console(), load(agent)
    scenario = Scenario(faults=(fault,), sensors=broken, onset=ONSET)
    rehearse(model, env, {}, [scenario], map(find_treatment, LANES.values()))
    mention_home(model, env)
    trials = {lane: Trial(env, episodes, FIRST_SEED, None if lane == CLEAN else scenario) for lane in LANES}
    about = About(
        title=f"{fault} on {broken} of {len(model.sensors)} sensors", task=env, agent=agent,
        command=f"wiser demo --agent {agent} --env {env} --fault {fault} --broken {broken} --episodes {episodes}",
        steps_per_second=domain_of(env).steps_per_second,
    )  # fmt: skip
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} episodes over"))
    with Progress(*columns, TimeElapsedColumn(), console=console) as bar:
        driven = _drive(model, trials, bar, {})
        recorders = {episode: _recorder(model, about, episode) for episode in choose(driven)}
        again = _drive(model, trials, bar, recorders)
    assert again == driven, "what is recorded is not what was counted"
    console.print(_table(driven, about.title, env))
    page = _write(driven, recorders, out)
    console.print(
        f"The guard is never told what is broken. Watch the {page.stem} episode and others: open {page}", soft_wrap=True
    )


def by_gain(driven: Driven) -> list[int]:
    """The numbers of the episodes, from those where the guard helps least to those where it helps most."""
    gains = [with_it.score - without.score for with_it, without in zip(driven[GUARDED], driven[BROKEN], strict=True)]
    return sorted(range(len(gains)), key=gains.__getitem__)


def choose(driven: Driven) -> dict[int, str]:
    """Which episodes to show: {number: what to call it}; three of them, if there are as many."""
    order = by_gain(driven)
    return {order[_middle(order)]: "median", order[0]: "worst", order[-1]: "best for the guard"}


def _middle(order: list[int]) -> int:
    """Of an even number, the lesser of the two in the middle."""
    return (len(order) - 1) // 2


def _drive(model: WorldModel, trials: Mapping[str, Trial], bar: Progress, recorders: Recorders) -> Driven:
    """Drive every lane; `recorders` record their episodes."""
    driven = {}
    for lane, trial in trials.items():
        fault = trial.disturbance.name if trial.disturbance else ""
        watchers = [RecordEpisode(recorder, lane, model, fault, episode) for episode, recorder in recorders.items()]
        task = bar.add_task(f"{'recording ' if recorders else ''}{lane:16s}", total=trial.episodes)
        watch = _watch(bar, task, watchers)
        driven[lane] = run_episodes(model, find_treatment(LANES[lane]), trial, watch, watched=recorders)
    return driven


def _watch(bar: Progress, task: TaskID, watchers: list[RecordEpisode]) -> Watch:
    def watch(wave: Wave, moment: Moment) -> None:
        for watcher in watchers:
            watcher(wave, moment)
        bar.update(task, completed=wave.start + wave.episodes - int(wave.book.running.sum()))

    return watch


def _recorder(model: WorldModel, about: About, episode: int) -> Recorder:
    methods = {lane: resolve_name(treatment, model) for lane, treatment in LANES.items()}
    about = replace(about, seeds=(FIRST_SEED + episode,))
    return Recorder(model.sensors, methods, about, beside(model.folder, model.digest))


def _write(driven: Driven, recorders: Recorders, out: Path) -> Path:
    """Write a page for each recorded episode; gives the one to open first."""
    pages = {episode: (name, f"{name.split()[0]}.html") for episode, name in choose(driven).items()}
    scores = {lane: [episode.score for episode in episodes] for lane, episodes in driven.items()}
    order = by_gain(driven)
    for episode, recorder in recorders.items():
        sample = Sample(scores, order, "what the guard gained", pages, episode)
        to_html(recorder.recording(), out / pages[episode][1], sample)
    return out / pages[order[_middle(order)]][1]


def _table(driven: Driven, title: str, env: str) -> Table:
    table = Table(title=f"{title}: {len(driven[CLEAN])} episodes, the same for all")
    means, declared = {lane: mean_measures(episodes) for lane, episodes in driven.items()}, measures_of(env)
    shown = [name for name in declared if name in means[CLEAN] and not declared[name].detail]
    for column in ("", "score (95 % interval)", *(declared[name].title for name in shown)):
        table.add_column(column, justify="left" if not column else "right")
    for lane, episodes in driven.items():
        score = statistics.mean([[episode.score for episode in episodes]], np.random.default_rng(0))
        more = [declared[name].text(means[lane][name]) for name in shown]
        table.add_row(lane, f"{score.value:.0f} ({score.low:.0f} to {score.high:.0f})", *more)
    return table
