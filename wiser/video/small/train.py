"""`python -m wiser.video.small.train`: train the small Cosmos on clips that it draws itself, on one CPU thread.

A run is a folder: `codec.safetensors`, `latents.safetensors` and `transformer.safetensors` hold how far it has come,
and the same command goes on from there; `model/` is the finished pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import tyro
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)  # fmt: skip

from wiser.checks import at_least, check_folder
from wiser.spoken import spoken
from wiser.threads import use_threads
from wiser.video.small.plan import Plan


@contextmanager
def _bars() -> Iterator[Callable[[str, int, int, float | None], None]]:
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[state]}"),
    )  # fmt: skip
    with Progress(*columns, console=Console()) as bars:
        lines: dict[str, TaskID] = {}

        def announce(what: str, done: int, of: int, loss: float | None) -> None:
            if what not in lines:
                lines[what] = bars.add_task(what, total=of, state="")
            bars.update(lines[what], completed=done, state="" if loss is None else f"loss {loss:.4f}")

        yield announce


@spoken("Stopped; the same command goes on.")
def main(out: Path, clips: int = Plan.clips, steps: int = Plan.steps, seed: int = Plan.seed, threads: int = 1) -> int:
    """Train the small Cosmos: a codec, then a transformer on its latents.

    Args:
        out: folder of the run; one that was stopped goes on.
        clips: that the transformer learns from.
        steps: of the transformer.
        seed: of weights and of all that is drawn.
        threads: Torch threads.
    """
    from wiser.video.cosmos.compat import diffusers

    diffusers()  # or a line that says what to install
    from wiser.video.small.training import train

    at_least(1, clips=clips, steps=steps)
    at_least(0, seed=seed)
    check_folder(out)
    use_threads(threads)
    with _bars() as announce:
        model = train(out, Plan(clips=clips, steps=steps, seed=seed), announce)
    Console().print(f"{model}: measure it with python -m wiser.video.small.report --model {model}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(tyro.cli(main))
