"""`wiser learn WHAT AGENT ENV`: train a score or a denoiser for rejection, kept beside the agent's weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wiser.options import NO_OPTIONS, Agent, Env, Options
from wiser.spoken import spoken


@spoken()
def learn(
    what: Annotated[Literal["resnet18", "restormer"], tyro.conf.Positional, tyro.conf.arg(metavar="WHAT")],
    agent: tyro.conf.Positional[Agent],
    env: tyro.conf.Positional[Env],
    sensor: str | None = None,
    frames: int = 20_000,
    updates: int = 4000,
    batch: int = 32,
    network: Options = NO_OPTIONS,
    seed: int = 0,
    env_options: Options = NO_OPTIONS,
    out: Path | None = None,
    threads: int | None = None,
) -> int:
    """Drive with an agent, add Gaussian noise to what one of its sensors shows, and train a network on it.

    A resnet18 learns to tell noisy frames from clean ones, a restormer to give back the clean frame.

    Args:
        what: a score, resnet18, or a denoiser, restormer.
        agent: a shipped agent or a model folder.
        env: a task or the Gymnasium id where it was trained.
        sensor: whose frames; the agent's only image by default.
        frames: clean frames to learn from, kept in memory; a tenth as many of other episodes are held out.
        updates: gradient steps.
        batch: frames of each of them.
        network: settings of the network, as published by default: width=16, blocks=[1,1,1,1], ...
        seed: of episodes, noise and initial weights.
        env_options: what to tell the environment, each value as YAML has it.
        out: folder to write WHAT.safetensors and WHAT.json to, instead of the agent's own.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    from wiser import rollout
    from wiser.checks import check_folder
    from wiser.envs.domain import find_task
    from wiser.learn import learn as train
    from wiser.threads import use_threads
    from wiser.worldmodel.store import load

    use_threads(threads)
    model, task, console = load(agent), find_task(env), Console()
    folder = out or model.folder
    check_folder(folder)
    rollout.mention_home(model, task.env)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[state]}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        line = bar.add_task(what, total=updates, state=f"driving for {frames} frames")

        def report(update: int, loss: float) -> None:
            bar.update(line, completed=update, state=f"loss {loss:.4f}")

        learnt = train(
            what, model, task.env, sensor=sensor, frames=frames, updates=updates, batch=batch, settings=network,
            seed=seed, options=env_options, report=report,
        )  # fmt: skip
    path = learnt.save(folder)
    console.print(f"{_spoken(learnt.held_out)} on held-out frames: {path}", highlight=False, soft_wrap=True)
    return 0


def _spoken(found: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in found.items())
