"""`wiser drive ENV`: film the scripted expert of an environment."""

from __future__ import annotations

from pathlib import Path

import tyro

from wiser.options import NO_OPTIONS, Env, Options
from wiser.spoken import spoken


@spoken()
def drive(
    env: tyro.conf.Positional[Env],
    out: Path | None = None,
    seed: int = 0,
    env_options: Options = NO_OPTIONS,
) -> int:
    """Record one episode of the expert.

    Args:
        env: a task (FourLane, StopSign, ...) or a Gymnasium id.
        out: file to write, .mp4 or .gif; TASK.mp4 in this directory if not given.
        seed: the scenario.
        env_options: what to tell the environment, such as continuous=true, each value as YAML has it.
    """
    from wiser.checks import at_least, check_file
    from wiser.drive import film
    from wiser.envs.domain import domain_of, find_task
    from wiser.record import save_film

    at_least(0, seed=seed)
    task = find_task(env)
    target = out or Path(f"{task.name.replace('/', '-')}.mp4")
    if target.suffix not in (".mp4", ".gif"):
        raise ValueError(f"cannot write {target}: a film ends in .mp4 or .gif")
    check_file(target)
    frames, ending = film(task.env, seed, env_options)
    fps = domain_of(task.env).steps_per_second
    save_film(frames, target, round(fps))
    print(f"{target}: {len(frames) / fps:.1f} s, {ending}")
    return 0
