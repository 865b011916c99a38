"""`wiser drive ENV`: film the scripted expert of an environment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.console import Console

from wiser.envs.domain import Rows, domain_of, find_task
from wiser.envs.vector import make_rows
from wiser.record import save_film


def drive(
    env: Annotated[str, tyro.conf.Positional], out: Path | None = None, seed: int = 0, continuous: bool = False
) -> int:
    """Record one episode of the expert.

    Args:
        env: a task (FourLane, StopSign, ...) or a Gymnasium id.
        out: file to write, .mp4 or .gif; TASK.mp4 in this directory if not given.
        seed: the scenario.
        continuous: real numbers as actions instead of discrete ones, where the environment offers both.
    """
    try:
        task = find_task(env)
        target = out or Path(f"{task.name.replace('/', '-')}.mp4")
        frames, ending = film(task.env, seed, {"continuous": True} if continuous else {})
        fps = domain_of(task.env).steps_per_second
        save_film(frames, target, round(fps))
    except ValueError as error:
        Console().print(f"[red]{error}[/]")
        return 2
    print(f"{target}: {len(frames) / fps:.1f} s, {ending}")
    return 0


def film(env: str, seed: int, options: dict[str, bool]) -> tuple[list[np.ndarray], str]:
    """Every picture of an episode that the expert drives, and how it ended."""
    domain = domain_of(env)
    rows = make_rows(env, 1, options={"render_mode": "rgb_array", **options})
    teacher = domain.teacher(rows)
    if teacher is None:
        raise ValueError(f"{env} has no scripted expert to film")
    rows.reset(seed=seed)
    frames, ending = [_picture(rows)], ""
    while not ending:
        _, _, terminated, truncated, info = rows.step(teacher.actions())
        frames.append(_picture(rows))
        if terminated[0] or truncated[0]:
            flags = {name: info[name][0] for name in domain.endings if name in info}
            ending = domain.ending(flags, bool(truncated[0]))
    rows.close()
    return frames, ending


def _picture(rows: Rows) -> np.ndarray:
    pictures = rows.render()
    assert pictures is not None
    return np.asarray(pictures[0])
