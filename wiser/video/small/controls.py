"""What must hold before anything that the small model predicts may be believed.

A small codec can learn the motion of its scenes by heart: then pictures come out right whatever the transformer says.
So: what stands still must come back still, a latent must move its own pictures and no others, and a transformer that
has learnt nothing must do clearly worse.
"""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

import numpy as np
import torch
from diffusers import AutoencoderKLWan, Cosmos2_5_PredictBasePipeline
from torch import Tensor

from wiser.video.small.clips import Clip, to_unit, to_video
from wiser.video.small.pipeline import build_transformer
from wiser.video.small.text import TASK


class Stillness(NamedTuple):
    """What a codec makes of a clip in which nothing moves."""

    invented: float
    """The part of another clip's motion, which begins with the same picture, that it shows: 0 unless out of habit."""
    followed: float
    """The part of that motion that it shows where it is there."""
    flicker: float
    """Mean squared difference from the first picture, in [0, 1], where nothing moves."""


@torch.no_grad()
def reconstruct(codec: AutoencoderKLWan, video: Tensor) -> Tensor:
    """There and back through the codec, (B, 3, T, H, W)."""
    return codec.decode(codec.encode(video).latent_dist.mode()).sample


def stillness(codec: AutoencoderKLWan, clip: Clip) -> Stillness:
    """Whether the codec invents motion: the first picture of a clip, repeated, beside the clip."""
    moving = to_video([clip])
    still = moving[:, :, :1].expand_as(moving)
    motion, invented, followed = (
        (video - video[:, :, :1])[:, :, 1:] for video in (moving, reconstruct(codec, still), reconstruct(codec, moving))
    )  # (1, 3, T - 1, H, W) each
    habit, faith = (float((change * motion).sum() / motion.square().sum()) for change in (invented, followed))
    return Stillness(habit, faith, flicker=float(invented.square().mean() / 4))


@torch.no_grad()
def influence(codec: AutoencoderKLWan, clip: Clip, other: Clip) -> Tensor:
    """What each latent of a clip moves: mean squared change of each picture when it is another clip's, (latents, T)."""
    mine, theirs = (codec.encode(to_video([each])).latent_dist.mode() for each in (clip, other))  # (1, C, L, H, W)
    whole = codec.decode(mine).sample
    changes = []
    for t in range(mine.shape[2]):
        swapped = mine.clone()
        swapped[:, :, t] = theirs[:, :, t]
        changes.append((codec.decode(swapped).sample - whole).square().mean((0, 1, 3, 4)))  # (T,)
    return torch.stack(changes)


def own_share(moved: Tensor) -> Tensor:
    """Of the change that each latent makes (latents, T), the part in its own pictures, (latents,)."""
    latents, pictures = moved.shape
    owner = (torch.arange(pictures) + 3) // 4  # the first picture has a latent for itself, every four others share one
    return torch.stack([moved[t, owner == t].sum() / moved[t].sum() for t in range(latents)])


def generate(pipeline: Cosmos2_5_PredictBasePipeline, given: Clip, pictures: int, steps: int, seed: int) -> Tensor:
    """A clip of so many pictures in [0, 1], (T, H, W, 3), that begins with one or five given ones (1 or 5, H, W, 3)."""
    height, width = given.shape[1:3]
    made = pipeline(
        video=to_video([given]),
        prompt=TASK,
        num_latent_conditional_frames=(len(given) + 3) // 4,
        height=height,
        width=width,
        num_frames=pictures,
        num_inference_steps=steps,
        guidance_scale=1.0,
        output_type="pt",
        generator=torch.Generator().manual_seed(seed),
    ).frames  # (1, T, 3, H, W)
    return made[0].permute(0, 2, 3, 1)


def forgetful(pipeline: Cosmos2_5_PredictBasePipeline, seed: int) -> Cosmos2_5_PredictBasePipeline:
    """The same pipeline with a transformer that has learnt nothing."""
    config = pipeline.transformer.config
    blank = build_transformer(config["num_attention_heads"], config["num_layers"], seed).eval()
    return with_transformer(pipeline, blank)


def with_transformer(
    pipeline: Cosmos2_5_PredictBasePipeline, transformer: torch.nn.Module
) -> Cosmos2_5_PredictBasePipeline:
    """The same pipeline with another transformer."""
    parts = {**pipeline.components, "transformer": transformer, "scheduler": deepcopy(pipeline.scheduler)}
    other = type(pipeline)(**parts)
    other.set_progress_bar_config(disable=True)
    return other


def prediction_errors(
    pipeline: Cosmos2_5_PredictBasePipeline, clips: list[Clip], given: int, steps: tuple[int, ...] = (1, 4, 10)
) -> dict[str, float]:
    """Squared error of the pictures after the given ones, in [0, 1]: of the model, and of what knows less or more."""
    truth = torch.from_numpy(np.stack(clips).astype(np.float32) / 255.0)  # (B, T, H, W, 3)
    codec, blank = pipeline.vae, forgetful(pipeline, seed=0)
    pictures = truth.shape[1]
    back = to_unit(reconstruct(codec, to_video(clips)))
    last = truth[:, given - 1 : given].expand_as(truth)
    coded = back[:, given - 1 : given].expand_as(truth)

    def made_by(model: Cosmos2_5_PredictBasePipeline, count: int) -> Tensor:
        return torch.stack([generate(model, clip[:given], pictures, count, seed) for seed, clip in enumerate(clips)])

    shown = {f"model, {count} step{'s' * (count > 1)}": made_by(pipeline, count) for count in steps}
    shown |= {
        "codec alone, told the truth": back,
        "last given picture": last,
        "last given picture, through the codec": coded,
        "mean of all clips": truth.mean((0, 1), keepdim=True).expand_as(truth),
        "random transformer, 4 steps": made_by(blank, 4),
    }
    return {name: float((clip - truth)[:, given:].square().mean()) for name, clip in shown.items()}
