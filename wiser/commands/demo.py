"""`wiser demo`: drive with a shipped agent, break most of its sensors, and watch it with and without a guard."""

from __future__ import annotations

from pathlib import Path

from wiser.options import Agent, Env
from wiser.spoken import spoken


@spoken()
def demo(
    agent: Agent = "four-lane/dropout",
    env: Env = "wiser/FourLane-v0",
    fault: str = "glare",
    broken: int = 5,
    episodes: int = 16,
    out: Path = Path("demo"),
    threads: int | None = None,
) -> int:
    """Drive the same episodes with clean sensors, with broken ones, and with broken ones under guard.

    Args:
        agent: a shipped agent or a model folder.
        env: where it drives: a task (FourLane, StopSign, ...) or a Gymnasium id.
        fault: what breaks sensors, 60 steps into every episode; `wiser faults` shows all of them.
        broken: how many fail, drawn for each episode.
        episodes: driven side by side; the best, the median and the worst for the guard can be watched.
        out: folder of the pages.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    from wiser.checks import at_least, check_folder
    from wiser.demo import run_demo
    from wiser.envs.domain import find_task
    from wiser.threads import use_threads

    use_threads(threads)
    at_least(1, episodes=episodes)
    check_folder(out)
    run_demo(agent, find_task(env).env, fault, broken, episodes, out)
    return 0
