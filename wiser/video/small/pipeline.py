"""The small model as an ordinary diffusers pipeline: put together, written to a folder, read from it."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import torch
from diffusers import (
    AutoencoderKLWan,
    Cosmos2_5_PredictBasePipeline,
    CosmosTransformer3DModel,
    UniPCMultistepScheduler,
)
from torch import nn

from wiser import seeds
from wiser.video.cosmos.load import PassThrough, load_pipeline
from wiser.video.small.codec import CHANNELS
from wiser.video.small.plan import SHIPPED
from wiser.video.small.text import WIDTH, build_text_encoder, build_tokenizer


def build_transformer(heads: int, layers: int, seed: int) -> CosmosTransformer3DModel:
    """An untrained transformer for the codec's latents; without a padding mask, which would need torchvision."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(seeds.stream("transformer", seed).generate_state(1)[0]))
        return CosmosTransformer3DModel(
            in_channels=CHANNELS + 1, out_channels=CHANNELS, num_attention_heads=heads, attention_head_dim=32,
            num_layers=layers, text_embed_dim=WIDTH, adaln_lora_dim=32, max_size=(64, 64, 64), patch_size=(1, 2, 2),
            rope_scale=(1.0, 1.0, 1.0), concat_padding_mask=False, extra_pos_embed_type=None,
        )  # fmt: skip


def build_scheduler() -> UniPCMultistepScheduler:
    """As of the released model."""
    return UniPCMultistepScheduler(
        use_karras_sigmas=True, use_flow_sigmas=True, prediction_type="flow_prediction", sigma_max=200.0, sigma_min=0.01
    )


def assemble(
    codec: AutoencoderKLWan, transformer: CosmosTransformer3DModel, seed: int
) -> Cosmos2_5_PredictBasePipeline:
    """A pipeline of trained parts and a text side that has learnt nothing."""
    pipeline = Cosmos2_5_PredictBasePipeline(
        text_encoder=build_text_encoder(seed), tokenizer=build_tokenizer(), transformer=transformer, vae=codec,
        scheduler=build_scheduler(), safety_checker=PassThrough(),
    )  # fmt: skip
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def write(pipeline: Cosmos2_5_PredictBasePipeline, folder: Path) -> None:
    """Write a pipeline at half precision, as diffusers reads it; the one at hand stays as it is."""
    parts = {name: part for name, part in pipeline.components.items() if name != "safety_checker"}
    halved = {name: deepcopy(part).half() if isinstance(part, nn.Module) else part for name, part in parts.items()}
    Cosmos2_5_PredictBasePipeline(**halved, safety_checker=PassThrough()).save_pretrained(folder)


def load(folder: Path = SHIPPED) -> Cosmos2_5_PredictBasePipeline:
    """Read the shipped pipeline, or one of your own."""
    pipeline = load_pipeline(str(folder))
    pipeline.set_progress_bar_config(disable=True)
    return pipeline
