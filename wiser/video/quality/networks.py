"""Networks as dimensions want them: PAI-Bench's own, given with whatever weights."""

from __future__ import annotations

import html
import math
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

Colours = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Mean and spread of red, green and blue that a network was trained with, for pixels in [0, 1]."""
CLIP_COLOURS: Colours = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
IMAGENET_COLOURS: Colours = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
WORDS = 32
"""Tokens of a prompt that ViCLIP reads, with those of its beginning and end."""


def normalised(pixels: Tensor, colours: Colours, device: torch.device) -> Tensor:
    """(B, 3, H, W), less the mean and by the spread."""
    mean, spread = (pixels.new_tensor(value)[:, None, None] for value in colours)  # (3, 1, 1)
    return ((pixels - mean) / spread).to(device)


class ClipPictures:
    """CLIP's projected picture features: a `CLIPVisionModelWithProjection` of transformers."""

    def __init__(self, network: Any) -> None:
        self.network = network

    def __call__(self, pixels: Tensor) -> Tensor:
        """(B, 3, 224, 224) -> (B, E)."""
        shown = normalised(pixels, CLIP_COLOURS, self.network.device)
        return self.network(pixel_values=shown).image_embeds.float()


class Aesthetics:
    """LAION's linear head on unit CLIP features: how people would rate a picture, on a scale to 10."""

    def __init__(self, clip: ClipPictures, head: torch.nn.Linear) -> None:
        self.clip, self.head = clip, head

    def __call__(self, pixels: Tensor) -> Tensor:
        """(B, 3, 224, 224) -> (B,)."""
        return self.head(F.normalize(self.clip(pixels), dim=-1)).squeeze(-1)


class DinoPictures:
    """DINO's class token: a `ViTModel` of transformers, with positions between patches as DINO's own code has them."""

    def __init__(self, network: Any) -> None:
        self.network = network
        network.embeddings.interpolate_pos_encoding = partial(_positions, network)

    def __call__(self, pixels: Tensor) -> Tensor:
        """(B, 3, H, W) -> (B, E); any size."""
        shown = normalised(pixels, IMAGENET_COLOURS, self.network.device)
        return self.network(pixel_values=shown, interpolate_pos_encoding=True).last_hidden_state[:, 0]


def _positions(network: Any, tokens: Tensor, height: int, width: int) -> Tensor:
    """Position of every token for pictures of another size; (1, 1 + patches, E).

    DINO stretches by (n + 0.1) / trained where transformers stretches to n: samples lie elsewhere, by up to a tenth.
    """
    known, patch = network.embeddings.position_embeddings, network.config.patch_size
    side = math.isqrt(known.shape[1] - 1)
    if height == width == side * patch:
        return known
    grid = known[:, 1:].unflatten(1, (side, side)).permute(0, 3, 1, 2)  # (1, E, side, side)
    scale = tuple((length // patch + 0.1) / side for length in (height, width))
    stretched = F.interpolate(grid, scale_factor=scale, mode="bicubic")  # (1, E, rows, columns)
    return torch.cat([known[:, :1], stretched.flatten(2).mT], 1)


class Judge:
    """A network that rates pictures, which normalises them itself: pyiqa's MUSIQ."""

    def __init__(self, network: Any, device: torch.device) -> None:
        self.network, self.device = network, device

    def __call__(self, pixels: Tensor) -> Tensor:
        """(B, 3, H, W) -> (B,)."""
        return self.network(pixels.to(self.device)).flatten()


class Embedding:
    """A network that normalises pictures itself: DreamSim."""

    def __init__(self, network: Any, device: torch.device) -> None:
        self.network, self.device = network, device

    def __call__(self, pixels: Tensor) -> Tensor:
        """(B, 3, 224, 224) -> (B, E)."""
        return self.network.embed(pixels.to(self.device))


class Interpolator:
    """A network for two frames whose sides are multiples of some number: borders are repeated and cut off again."""

    def __init__(self, network: Any, multiple: int, device: torch.device) -> None:
        self.network, self.multiple, self.device = network, multiple, device

    def __call__(self, before: Tensor, after: Tensor) -> Tensor:
        """Two of (1, 3, H, W) -> the frame between them."""
        height, width = before.shape[-2:]
        below, right = -height % self.multiple, -width % self.multiple
        border = [right // 2, right - right // 2, below // 2, below - below // 2]
        made = self.network(*(F.pad(frame.to(self.device), border, mode="replicate") for frame in (before, after)))
        return made[..., border[2] : border[2] + height, border[0] : border[0] + width]


class ViClip:
    """ViCLIP: `network.video` of frames (1, 8, 3, 224, 224), `network.text` of tokens (1, 32), both -> (1, E)."""

    def __init__(self, network: Any, tokenizer: Any, device: torch.device) -> None:
        self.network, self.tokenizer, self.device = network, tokenizer, device

    def video(self, pixels: Tensor) -> Tensor:
        """(8, 3, 224, 224) -> (E,)."""
        return self.network.video(normalised(pixels, CLIP_COLOURS, self.device)[None])[0]

    def text(self, prompt: str) -> Tensor:
        """A prompt, cut where it is too long -> (E,)."""
        words = self.tokenizer(html.unescape(prompt).strip(), truncation=True, max_length=WORDS).input_ids
        tokens = torch.tensor([words + [0] * (WORDS - len(words))], device=self.device)  # (1, 32)
        return self.network.text(tokens)[0]
