"""Drive with a shipped agent, break most of its sensors, and watch it with and without a guard: `wiser demo`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from wiser import seeds
from wiser.envs.domain import domain_of, measures_of
from wiser.evaluate import statistics
from wiser.evaluate.benchmark import mean_measures
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.records import Episode
from wiser.evaluate.treatments import find_treatment
from wiser.evaluate.watch import RecordEpisode
from wiser.faults import Scenario
from wiser.guard.calibration import beside
from wiser.record import About, Recorder, to_html
from wiser.rollout import Moment, Trial, Wave
from wiser.worldmodel.store import load

FIRST_SEED = seeds.DEMO.start
ONSET = 60
LANES = {"clean": "none", "broken, no guard": "none", "broken, guarded": "greedy"}


def run_demo(agent: str, env: str, fault: str, broken: int, episodes: int, out: Path) -> None:
    """Drive the same episodes with clean sensors, with broken ones, and with broken ones under guard; write a page."""
    console, model = Console(), load(agent)
    scenario = Scenario(faults=(fault,), sensors=broken, onset=ONSET)
    about = About(
        title=f"{fault} on {broken} of {len(model.sensors)} sensors", task=env, agent=agent, seeds=(FIRST_SEED,),
        command=f"wiser demo --agent {agent} --env {env} --fault {fault} --broken {broken}",
        steps_per_second=domain_of(env).steps_per_second,
    )  # fmt: skip
    recorder = Recorder(model.sensors, LANES, about, beside(model.folder, model.digest))
    driven = {}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed} episodes over"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bar:
        for lane, treatment in LANES.items():
            task = bar.add_task(f"{lane:18s}", total=episodes)
            trial = Trial(env, episodes, FIRST_SEED, None if lane == "clean" else scenario)
            record = RecordEpisode(recorder, lane, model, fault)

            def watch(wave: Wave, moment: Moment, record: RecordEpisode = record, task: TaskID = task) -> None:
                record(wave, moment)
                bar.update(task, completed=wave.start + wave.episodes - int(wave.book.running.sum()))

            driven[lane] = run_episodes(model, find_treatment(treatment), trial, watch, watched=(0,))
    console.print(_table(driven, about.title, env))
    page = to_html(recorder.recording(), out / "demo.html")
    console.print(f"The guard is never told what is broken. Watch the first episode: open {page}")


def _table(driven: dict[str, list[Episode]], title: str, env: str) -> Table:
    table = Table(title=f"{title}: {len(driven['clean'])} episodes, the same for all")
    means, declared = {lane: mean_measures(episodes) for lane, episodes in driven.items()}, measures_of(env)
    shown = [name for name in declared if name in means["clean"]]
    for column in ("", "score (95 % interval)", *(declared[name].title for name in shown)):
        table.add_column(column, justify="left" if not column else "right")
    for lane, episodes in driven.items():
        score = statistics.mean([[episode.score for episode in episodes]], np.random.default_rng(0))
        more = [declared[name].text(means[lane][name]) for name in shown]
        table.add_row(lane, f"{score.value:.0f} ({score.low:.0f} to {score.high:.0f})", *more)
    return table
