"""`wiser demo`: drive with a shipped agent, break most of its sensors, and watch it with and without a guard."""

from __future__ import annotations

from pathlib import Path

from wiser.spoken import spoken


@spoken()
def demo(
    agent: str = "four-lane/dropout",
    env: str = "wiser/FourLane-v0",
    fault: str = "glare",
    broken: int = 5,
    episodes: int = 16,
    out: Path = Path("demo"),
    threads: int | None = None,
) -> int:
    """Drive the same episodes with clean sensors, with broken ones, and with broken ones under guard.

    Args:
        agent: a shipped agent or a model folder.
        env: where it drives.
        fault: what breaks sensors, 60 steps into every episode; `wiser faults` shows all of them.
        broken: how many fail, drawn for each episode.
        episodes: driven side by side; the best, the median and the worst for the guard can be watched.
        out: folder of the pages.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    from wiser.demo import run_demo
    from wiser.threads import use_threads

    use_threads(threads)
    run_demo(agent, env, fault, broken, episodes, out)
    return 0
