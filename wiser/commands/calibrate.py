"""`wiser calibrate AGENT ENV`: measure what is normal for an agent and keep it beside its weights."""

from __future__ import annotations

from pathlib import Path

import tyro
from rich.console import Console

from wiser.options import NO_OPTIONS, Agent, Env, Options
from wiser.spoken import spoken


@spoken()
def calibrate(
    agent: tyro.conf.Positional[Agent],
    env: tyro.conf.Positional[Env],
    rows: int = 16,
    steps: int = 1000,
    beginnings: int = 256,
    scores: tuple[str, ...] = (),
    seed: int | None = None,
    env_options: Options = NO_OPTIONS,
    out: Path | None = None,
    threads: int | None = None,
) -> int:
    """Drive clean episodes with an agent and write down what its scores usually are: `calibration.json`.

    Args:
        agent: a shipped agent or a model folder.
        env: a task or the Gymnasium id of the environment it was trained in.
        rows: environments driven side by side.
        steps: steps of each of them.
        beginnings: episodes that are begun besides, for statistics of first frames.
        scores: of your own to record besides those that go by a name: package.module:NAME, or NAME@FILE with weights.
        seed: of the first episode; by default those that nothing else uses.
        env_options: what to tell the environment, each value as YAML has it.
        out: folder or file to write instead of the agent's own folder.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    from wiser import rollout, seeds
    from wiser.checks import check_file, check_folder
    from wiser.envs.domain import find_task
    from wiser.guard.scores import known_scores
    from wiser.threads import use_threads
    from wiser.worldmodel.store import load

    use_threads(threads)
    model, task, first = load(agent), find_task(env), seeds.CALIBRATION.start if seed is None else seed
    where = out or model.folder
    check_folder(where) if where.is_dir() else check_file(where)
    rollout.mention_home(model, task.env)
    names = [*known_scores(model), *scores] if scores else None
    found = rollout.calibrate(model, task.env, rows, steps, beginnings, first, scores=names, options=env_options)
    found.save(where)
    frames = f"{rows * steps} frames and {beginnings} beginnings"
    Console().print(f"{agent}: {len(found.scores)} scores, {frames}: {where}", highlight=False, soft_wrap=True)
    return 0
