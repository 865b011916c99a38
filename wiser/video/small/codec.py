"""The codec of the small model: diffusers' Wan autoencoder, made so that latents and not habit move its pictures.

A causal decoder can guess the motion of scenes it knows from the first latent alone, and then nothing that predicts
latents matters. Two things keep it from that: each convolution over time starts out with its newest tap, and it is
trained on motion that follows from nothing, in sound and in broken pictures alike.
"""

from __future__ import annotations

import numpy as np
import torch
from diffusers import AutoencoderKLWan
from diffusers.models.autoencoders.autoencoder_kl_wan import WanCausalConv3d, WanResample
from torch import Tensor, nn
from torch.nn import functional as F

from wiser import seeds
from wiser.video.small.clips import Clip, crop, film, spoil, to_video
from wiser.video.small.course import Course
from wiser.video.small.plan import Stage
from wiser.video.small.warmstart import start_linear

CHANNELS = 16
FAINT = 0.02
"""What older taps keep of their weights at the start."""
NOISE = 0.1
"""On latents while the codec is trained: it must draw well from latents that are nearly right."""
BOUND = 1e-3
"""Weight of the mean square of latents, which would otherwise outgrow the noise."""
EXAMPLES = 40
"""Pictures that the start is fitted to."""


def build_codec(base: int, seed: int, pictures: int = EXAMPLES) -> AutoencoderKLWan:
    """An untrained codec, fitted to so many pictures: a quarter of the side and of the time, 16 channels."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(seeds.stream("codec", seed).generate_state(1)[0]))
        codec = AutoencoderKLWan(
            base_dim=base, z_dim=CHANNELS, dim_mult=[1, 2, 4], num_res_blocks=1, temperal_downsample=[True, True],
            latents_mean=[0.0] * CHANNELS, latents_std=[1.0] * CHANNELS, scale_factor_spatial=4,
        )  # fmt: skip
    look_at_the_newest(codec)
    rng = seeds.generator("codec start", seed)
    start_linear(codec, to_video([_training_clip(1, rng) for _ in range(pictures)])[:, :, 0])
    channels_last(codec)
    return codec


@torch.no_grad()
def look_at_the_newest(codec: AutoencoderKLWan) -> None:
    """Let every convolution over time begin with its newest tap, and changes of frame rate near the identity."""
    for module in codec.modules():
        if isinstance(module, WanCausalConv3d) and module.weight.shape[2] > 1:
            module.weight[:, :, :-1] *= FAINT
            module.weight[:, :, -1] *= module.weight.shape[2] ** 0.5  # as much comes out as before
    for module in codec.modules():
        if isinstance(module, WanResample) and hasattr(module, "time_conv"):
            conv = module.time_conv  # (C or 2 C, C, 3, 1, 1)
            conv.weight *= FAINT
            same = torch.eye(conv.in_channels).repeat(conv.out_channels // conv.in_channels, 1)  # (C or 2 C, C)
            conv.weight[:, :, -1, 0, 0] += same
            nn.init.zeros_(conv.bias)


def channels_last(codec: AutoencoderKLWan) -> None:
    """Lay weights out so that a CPU convolves a fifth faster; their values are the same."""
    for module in codec.modules():
        if isinstance(module, nn.Conv2d | nn.Conv3d):
            layout = torch.channels_last if isinstance(module, nn.Conv2d) else torch.channels_last_3d
            module.weight.data = module.weight.data.contiguous(memory_format=layout)


def codec_course(codec: AutoencoderKLWan, seed: int, stages: tuple[Stage, ...]) -> Course:
    """How a codec is trained."""

    def loss(step: int, rng: np.random.Generator) -> Tensor:
        stage = stage_of(step, stages)
        clips = [crop(_training_clip(stage.pictures, rng), stage.side, rng) for _ in range(stage.clips)]
        return codec_loss(codec, to_video(clips), rng)

    on = {"base": codec.config["base_dim"], "stages": stages}
    return Course("small-codec", codec, loss, sum(stage.steps for stage in stages), 3e-4, seed, on)


def _training_clip(pictures: int, rng: np.random.Generator) -> Clip:
    return spoil(film(int(rng.choice(seeds.TRAINING)), pictures, "wander"), rng)


def codec_loss(codec: AutoencoderKLWan, video: Tensor, rng: np.random.Generator) -> Tensor:
    """Mean absolute and squared error of what comes back, (B, 3, T, H, W)."""
    latents = codec.encode(video).latent_dist.mode()
    noise = torch.from_numpy(rng.standard_normal(latents.shape, np.float32))
    again = codec.decode(latents + NOISE * noise).sample
    return F.l1_loss(again, video) + F.mse_loss(again, video) + BOUND * latents.square().mean()


def stage_of(step: int, stages: tuple[Stage, ...]) -> Stage:
    """The stage that a step belongs to."""
    for stage in stages:
        if step < stage.steps:
            return stage
        step -= stage.steps
    raise IndexError("the course is over")


@torch.no_grad()
def measure_latents(codec: AutoencoderKLWan, latents: Tensor) -> None:
    """Tell a codec mean and spread of its latents (B, C, T, H, W), by which pipelines normalise them."""
    codec.register_to_config(
        latents_mean=latents.mean((0, 2, 3, 4)).tolist(), latents_std=latents.std((0, 2, 3, 4)).tolist()
    )
