"""The transformer of the small model: rectified flow on latents of clean pourings, as its pipeline will ask it.

Latents that are given are clean, marked in the condition mask and have their own time; of the others the velocity
from picture to noise is to be told. Text is drawn at random, so that it comes to mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from diffusers import AutoencoderKLWan, Cosmos2_5_PredictBasePipeline, CosmosTransformer3DModel
from diffusers.pipelines.cosmos.pipeline_cosmos2_5_predict import DEFAULT_NEGATIVE_PROMPT
from torch import Tensor

from wiser import seeds
from wiser.video.small.clips import film, to_video
from wiser.video.small.course import Course
from wiser.video.small.plan import PICTURES
from wiser.video.small.text import PROMPTS
from wiser.weights import digest_of

AT_ONCE = 4
"""Clips that are encoded together."""
GIVEN = 1e-4
"""The pipeline's time of a latent that is given."""
SIGMAS = (0.0099, 0.995)
"""Between what its scheduler asks for."""
FIRST = 0.25
"""Share of the examples at the scheduler's first step, which is the only one of a score in one step."""
LENGTHS = (1, 2, 3)
"""Latents of an example: a picture alone, the least that shows a next picture, a clip."""
SHARES = (0.15, 0.2, 0.65)
TOKENS = (16, 512)
"""Of a prompt, usually and now and then."""


class Example(NamedTuple):
    """What the transformer is shown, and what it should say."""

    noisy: Tensor
    """(B, C, T, H, W), the given latents clean."""
    given: Tensor
    """(B, 1, T, 1, 1)."""
    time: Tensor
    """(B, 1, T, 1, 1)."""
    velocity: Tensor
    """(B, C, T, H, W)."""


@torch.no_grad()
def encode_clips(codec: AutoencoderKLWan, count: int, report: Callable[[int], None]) -> Tensor:
    """Latents of so many pourings, (clips, C, T, H, W), not normalised."""
    chosen = seeds.TRAINING[:: len(seeds.TRAINING) // count][:count]  # spread over all training seeds
    latents = []
    for start in range(0, count, AT_ONCE):
        some = chosen[start : start + AT_ONCE]
        latents.append(codec.encode(to_video([film(seed, PICTURES) for seed in some])).latent_dist.mode())
        report(start + len(some))
    return torch.cat(latents)


def normalise(codec: AutoencoderKLWan, latents: Tensor) -> Tensor:
    """As the pipeline does, (B, C, T, H, W)."""
    mean, spread = (torch.tensor(codec.config[name]).view(1, -1, 1, 1, 1) for name in ("latents_mean", "latents_std"))
    return (latents - mean) / spread


@torch.no_grad()
def embed_prompts(pipeline: Cosmos2_5_PredictBasePipeline) -> Tensor:
    """What the pipeline makes of some prompts, (prompts, tokens, width)."""
    prompts = [*PROMPTS, DEFAULT_NEGATIVE_PROMPT]
    return pipeline.encode_prompt(prompts, do_classifier_free_guidance=False)[0]


def dynamics_course(
    transformer: CosmosTransformer3DModel, latents: Tensor, prompts: Tensor, steps: int, seed: int, batch: int = 8
) -> Course:
    """How a transformer is trained on normalised latents (clips, C, T, H, W)."""

    def loss(step: int, rng: np.random.Generator) -> Tensor:
        length = int(rng.choice(LENGTHS, p=SHARES))
        chosen = latents[rng.integers(len(latents), size=batch * LENGTHS[-1] // length), :, :length]
        tokens = TOKENS[int(rng.random() < 0.05)]
        text = prompts[rng.integers(len(prompts)), None, :tokens].expand(len(chosen), -1, -1)
        return flow_loss(transformer, example(chosen, rng), text)

    sizes = {"heads": transformer.config["num_attention_heads"], "layers": transformer.config["num_layers"]}
    on = {"clips": len(latents), "latents": digest_of({"latents": latents, "prompts": prompts}), **sizes}
    return Course("small-dynamics", transformer, loss, steps, 1e-3, seed, on)


def example(latents: Tensor, rng: np.random.Generator) -> Example:
    """Noise on latents (B, C, T, H, W): on those of single pictures, else on all but the first one or two."""
    B, _, T, _, _ = latents.shape
    known = np.minimum(rng.choice((1, 2), B, p=(0.6, 0.4)), T - 1)  # (B,)
    given = (torch.arange(T) < torch.from_numpy(known)[:, None]).float().view(B, 1, T, 1, 1)
    sigmas = np.where(rng.random(B) < FIRST, SIGMAS[1], rng.uniform(*SIGMAS, B)).astype(np.float32)
    sigma = torch.from_numpy(sigmas).view(B, 1, 1, 1, 1)
    noise = torch.from_numpy(rng.standard_normal(latents.shape, np.float32))
    noisy = given * latents + (1 - given) * ((1 - sigma) * latents + sigma * noise)
    return Example(noisy, given, given * GIVEN + (1 - given) * sigma, noise - latents)


def flow_loss(transformer: CosmosTransformer3DModel, shown: Example, text: Tensor) -> Tensor:
    """Mean squared error of the velocity of what was not given; `text` is (B, tokens, width)."""
    H, W = shown.noisy.shape[-2:]
    told = transformer(
        hidden_states=shown.noisy,
        timestep=shown.time,
        encoder_hidden_states=text,
        condition_mask=shown.given.expand(-1, -1, -1, H, W),
        return_dict=False,
    )[0]  # (B, C, T, H, W)
    asked = (1 - shown.given).expand_as(told)
    return ((told - shown.velocity).square() * asked).sum() / asked.sum()
