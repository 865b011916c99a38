"""`python -m wiser.video.small.train`: train the small Cosmos on clips that it draws itself, on one CPU thread.

A run is a folder: `codec.safetensors`, `latents.safetensors` and `transformer.safetensors` hold how far it has come,
and the same command goes on from there; `model/` is the finished pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import tyro
from diffusers import AutoencoderKLWan
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from safetensors.torch import save as to_bytes
from torch import Tensor

from wiser.checks import at_least, check_folder
from wiser.files import write_atomic
from wiser.spoken import spoken
from wiser.threads import use_threads
from wiser.video.small.codec import STAGES, Stage, build_codec, codec_course, measure_latents
from wiser.video.small.course import follow
from wiser.video.small.dynamics import dynamics_course, embed_prompts, encode_clips, normalise
from wiser.video.small.pipeline import assemble, build_transformer, write
from wiser.weights import read_tensors

Announce = Callable[[str, int, int, float | None], None]
"""(what is done, how far, of how many, loss if there is one)."""
SMOOTH = 0.95
"""What a shown loss keeps of the one before."""


@dataclass(frozen=True)
class Plan:
    """What is trained, and for how long."""

    base: int = 12
    """Channels of the codec's first convolution."""
    stages: tuple[Stage, ...] = STAGES
    heads: int = 4
    layers: int = 4
    clips: int = 1500
    """That the transformer learns from."""
    steps: int = 2000
    """Of the transformer."""
    seed: int = 0


def train(folder: Path, plan: Plan, announce: Announce) -> Path:
    """Train to the end, from wherever the folder says; returns that of the finished pipeline."""
    codec = build_codec(plan.base, plan.seed)
    course = codec_course(codec, plan.seed, plan.stages)
    follow(course, folder / "codec.safetensors", _loss("codec", course.steps, announce))
    latents = _latents(codec, plan.clips, folder / "latents.safetensors", announce)
    measure_latents(codec, latents)
    transformer = build_transformer(plan.heads, plan.layers, plan.seed)
    pipeline = assemble(codec, transformer, plan.seed)
    course = dynamics_course(
        transformer, normalise(codec, latents), embed_prompts(pipeline), plan.steps, plan.seed
    )  # fmt: skip
    follow(course, folder / "transformer.safetensors", _loss("transformer", course.steps, announce))
    write(pipeline, folder / "model")
    return folder / "model"


def _latents(codec: AutoencoderKLWan, clips: int, path: Path, announce: Announce) -> Tensor:
    """Of the transformer's clips, encoded once."""
    if not path.exists():
        latents = encode_clips(codec, clips, lambda done: announce("latents", done, clips, None))
        write_atomic(path, to_bytes({"latents": latents}))
    return read_tensors(path)[0]["latents"]


def _loss(what: str, steps: int, announce: Announce) -> Callable[[int, float], None]:
    shown: list[float] = []

    def report(step: int, loss: float) -> None:
        shown[:] = [SMOOTH * shown[0] + (1.0 - SMOOTH) * loss if shown else loss]
        announce(what, step, steps, shown[0])

    return report


@contextmanager
def _bars() -> Iterator[Announce]:
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[state]}"),
    )  # fmt: skip
    with Progress(*columns, console=Console()) as bars:
        lines = {}

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
    at_least(1, clips=clips, steps=steps)
    at_least(0, seed=seed)
    check_folder(out)
    use_threads(threads)
    with _bars() as announce:
        model = train(out, Plan(clips=clips, steps=steps, seed=seed), announce)
    Console().print(f"{model}: measure it with python -m wiser.video.small.report {model}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(tyro.cli(main))
