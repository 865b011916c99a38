"""A codec, then a transformer on its latents, then the pipeline of both: the whole training, which can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from diffusers import AutoencoderKLWan
from safetensors.torch import save as to_bytes
from torch import Tensor

from wiser.files import write_atomic
from wiser.video.small.codec import build_codec, codec_course, measure_latents
from wiser.video.small.course import Report, check_same, follow
from wiser.video.small.dynamics import dynamics_course, embed_prompts, encode_clips, normalise
from wiser.video.small.pipeline import assemble, build_transformer, write
from wiser.video.small.plan import Plan
from wiser.weights import digest_of, read_tensors

Announce = Callable[[str, int, int, float | None], None]
"""(what is done, how far, of how many, loss if there is one)."""
SMOOTH = 0.95
"""What a shown loss keeps of the one before."""


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
    """Of the transformer's clips, encoded once by this codec."""
    mine = {"clips": str(clips), "codec": digest_of(codec.state_dict())}
    if not path.exists():
        latents = encode_clips(codec, clips, lambda done: announce("latents", done, clips, None))
        write_atomic(path, to_bytes({"latents": latents}, mine))
    tensors, about = read_tensors(path)
    check_same(path, about, mine)
    return tensors["latents"]


def _loss(what: str, steps: int, announce: Announce) -> Report:
    shown: list[float] = []

    def report(step: int, loss: float) -> None:
        shown[:] = [SMOOTH * shown[0] + (1.0 - SMOOTH) * loss if shown else loss]
        announce(what, step, steps, shown[0])

    return report
