"""`wiser demo`: drive with a shipped agent, break most of its sensors, and watch it with and without a guard."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from wiser import seeds
from wiser.evaluate import statistics
from wiser.evaluate.methods import Method
from wiser.evaluate.records import Episode
from wiser.evaluate.rollout import Moment, Trial, rollout
from wiser.evaluate.watch import RecordRow
from wiser.faults import Scenario
from wiser.guard.calibration import beside
from wiser.record import About, Recorder, to_html
from wiser.threads import use_threads
from wiser.worldmodel.store import load

FIRST_SEED = seeds.DEMO.start
ONSET = 60
LANES = {"clean": "none", "broken, no guard": "none", "broken, guarded": "greedy"}


def demo(
    agent: str = "four-lane/dropout",
    env: str = "wiser/FourLane-v0",
    fault: str = "glare",
    broken: int = 5,
    episodes: int = 16,
    out: Path = Path("demo"),
    threads: int | None = None,
) -> None:
    """Drive the same episodes with clean sensors, with broken ones, and with broken ones under guard.

    Args:
        agent: a shipped agent or a model folder.
        env: where it drives.
        fault: what breaks sensors, 6 seconds into every episode; `wiser faults` shows all of them.
        broken: how many fail, drawn for each episode.
        episodes: driven side by side; the first one is recorded.
        out: folder of the page.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    use_threads(threads)
    console, model = Console(), load(agent)
    scenario = Scenario(faults=(fault,), sensors=broken, onset=ONSET)
    about = About(
        title=f"{fault} on {broken} of {len(model.sensors)} sensors", task=env, agent=agent, seeds=(FIRST_SEED,),
        command=f"wiser demo --agent {agent} --env {env} --fault {fault} --broken {broken}",
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
        for lane, selection in LANES.items():
            task = bar.add_task(f"{lane:18s}", total=episodes)
            trial = Trial(env, episodes, FIRST_SEED, None if lane == "clean" else scenario)
            record = RecordRow(recorder, lane, model, fault)

            def watch(moment: Moment, record: RecordRow = record, task: TaskID = task) -> None:
                record(moment)
                bar.update(task, completed=int((~moment.running).sum()))

            driven[lane] = rollout(model, Method("", selection), trial, watch)
    console.print(_table(driven, about.title))
    page = to_html(recorder.recording(), out / "demo.html")
    console.print(f"The guard is never told what is broken. Watch the first episode: open {page}")


def _table(driven: dict[str, list[Episode]], title: str) -> Table:
    table = Table(title=f"{title}: {len(driven['clean'])} episodes, the same for all")
    for column in ("", "score (95 % interval)", "success", "collisions"):
        table.add_column(column, justify="left" if not column else "right")
    for lane, episodes in driven.items():
        score = statistics.mean([[episode.score for episode in episodes]], np.random.default_rng(0))
        success, collision = (np.mean([getattr(e, name) for e in episodes]) for name in ("success", "collision"))
        table.add_row(
            lane, f"{score.value:.0f} ({score.low:.0f} to {score.high:.0f})", f"{success:.0%}", f"{collision:.0%}"
        )
    return table
