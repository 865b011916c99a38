"""`wiser worst AGENT ENV`: search for what hurts most under each way to treat an agent's sensors."""

from __future__ import annotations

from pathlib import Path

import tyro

from wiser.options import NO_OPTIONS, Agent, Env, Options
from wiser.spoken import spoken


@spoken("Stopped. The worst found for the treatments before are kept.")
def worst(
    agent: tyro.conf.Positional[Agent],
    env: tyro.conf.Positional[Env],
    treatments: tuple[str, ...] = ("none", "greedy", "auto"),
    faults: tuple[str, ...] = ("gaussian", "glare", "jitter", "lag", "occlusion", "freeze", "blackout", "blur", "salt"),
    most: int | None = None,
    tries: int = 40,
    episodes: int = 8,
    confirm: int = 48,
    seed: int = 0,
    env_options: Options = NO_OPTIONS,
    out: Path = Path("worst"),
    threads: int | None = None,
) -> int:
    """Search for the scenario that hurts most under each treatment: which sensors, what, when, how badly, how long.

    Half of the tries are anywhere, the others change one thing of the worst so far. What is found is driven again in
    episodes that the search did not see, with all treatments, and written down as a scenario to replay.

    Args:
        agent: a shipped agent or a model folder.
        env: a task or a Gymnasium id.
        treatments: of the sensors; each has a search of its own.
        faults: that may be tried.
        most: sensors that may be broken at once; all but one by default, or the only one.
        tries: scenarios per treatment.
        episodes: of each try.
        confirm: episodes to confirm the worst in.
        seed: of the search.
        env_options: what to tell the environment, each value as YAML has it.
        out: folder for TREATMENT.yaml, one scenario each, and worst.json, the scores.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    from wiser.evaluate.stress import Stress
    from wiser.threads import use_threads

    use_threads(threads)
    Stress(agent, env, treatments, env_options, episodes, confirm).run(faults, most, tries, seed, out)
    return 0
