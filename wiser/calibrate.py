"""`wiser calibrate AGENT ENV`: measure what is normal for an agent and keep it beside its weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from wiser import seeds
from wiser.envs.vector import clean_stream, make_rows
from wiser.guard import Calibration
from wiser.guard import calibrate as measure
from wiser.threads import use_threads
from wiser.worldmodel.protocol import WorldModel
from wiser.worldmodel.store import load


def calibrate(
    agent: Annotated[str, tyro.conf.Positional],
    env: Annotated[str, tyro.conf.Positional],
    rows: int = 16,
    steps: int = 1000,
    beginnings: int = 256,
    seed: int = seeds.CALIBRATION.start,
    out: Path | None = None,
    threads: int | None = None,
) -> int:
    """Drive clean episodes with an agent and write down what its scores usually are: `calibration.json`.

    Args:
        agent: a shipped agent or a model folder.
        env: Gymnasium id of the environment it was trained in.
        rows: environments driven side by side.
        steps: steps of each of them.
        beginnings: episodes that are begun besides, for statistics of first frames.
        seed: of the first episode.
        out: folder or file to write instead of the agent's own folder.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    use_threads(threads)
    console = Console()
    try:
        model = load(agent)
        found = calibrate_in(model, env, rows, steps, beginnings, seed)
    except ValueError as error:
        console.print(f"[red]{error}[/]")
        return 2
    where = out or model.folder
    found.save(where)
    console.print(f"{agent}: {len(found.scores)} scores, {rows * steps} frames and {beginnings} beginnings: {where}")
    return 0


def calibrate_in(
    model: WorldModel, env: str, rows: int = 16, steps: int = 1000, beginnings: int = 256,
    seed: int = seeds.CALIBRATION.start,
) -> Calibration:  # fmt: skip
    """Measure what is normal for `model` in an environment."""
    made = make_rows(env, rows, [sensor.name for sensor in model.sensors])
    try:
        return measure(model, clean_stream(made, seed), rows, steps, beginnings, seed=seed, env=env)
    finally:
        made.close()
