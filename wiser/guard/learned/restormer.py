"""Restormer (Zamir et al., 2022), an image restorer of transformer blocks: D of the paper's second ablation.

The names of weights are those of the published files, which therefore fit. Attention is between channels, so its cost
grows with the number of pixels only as that of a convolution does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 4
_SHRUNK = 2 ** (LEVELS - 1)  # sides are halved between levels
_EPSILON = 1e-5


class ChannelNorm(nn.Module):
    """Scale each pixel's channels to variance 1; with a bias their mean is taken out as well."""

    def __init__(self, width: int, bias: bool) -> None:
        super().__init__()
        parts = {"weight": torch.ones(width)} | ({"bias": torch.zeros(width)} if bias else {})
        self.body = nn.ParameterDict({name: nn.Parameter(value) for name, value in parts.items()})

    def forward(self, x: Tensor) -> Tensor:
        """(B, width, H, W), the same again."""
        scale = torch.rsqrt(x.var(1, keepdim=True, unbiased=False) + _EPSILON) * self.body["weight"][:, None, None]
        if "bias" not in self.body:
            return x * scale
        return (x - x.mean(1, keepdim=True)) * scale + self.body["bias"][:, None, None]


class Attention(nn.Module):
    """Every channel of a head attends to the others by how alike they are over all pixels."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(heads, 1, 1))
        self.qkv = nn.Conv2d(width, 3 * width, 1, bias=False)
        self.qkv_dwconv = nn.Conv2d(3 * width, 3 * width, 3, padding=1, groups=3 * width, bias=False)
        self.project_out = nn.Conv2d(width, width, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, width, H, W), the same again."""
        rows, _, height, wide = x.shape
        mixed = self.qkv_dwconv(self.qkv(x)).view(rows, 3, len(self.temperature), -1, height * wide)
        query, key, value = mixed.unbind(1)  # (B, heads, width / heads, H * W) each
        alike = F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT  # (B, heads, width / heads, width / heads)
        attended = (alike * self.temperature).softmax(-1) @ value
        return self.project_out(attended.reshape(rows, -1, height, wide))


class FeedForward(nn.Module):
    """One half of the hidden channels, through a GELU, gates the other."""

    def __init__(self, width: int, expansion: float) -> None:
        super().__init__()
        hidden = int(width * expansion)
        self.project_in = nn.Conv2d(width, 2 * hidden, 1, bias=False)
        self.dwconv = nn.Conv2d(2 * hidden, 2 * hidden, 3, padding=1, groups=2 * hidden, bias=False)
        self.project_out = nn.Conv2d(hidden, width, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, width, H, W), the same again."""
        gate, value = self.dwconv(self.project_in(x)).chunk(2, 1)
        return self.project_out(F.gelu(gate) * value)


class Block(nn.Module):
    """Attention, then feed-forward, each added to what came in."""

    def __init__(self, width: int, heads: int, expansion: float, norm_bias: bool) -> None:
        super().__init__()
        self.norm1, self.attn = ChannelNorm(width, norm_bias), Attention(width, heads)
        self.norm2, self.ffn = ChannelNorm(width, norm_bias), FeedForward(width, expansion)

    def forward(self, x: Tensor) -> Tensor:
        """(B, width, H, W), the same again."""
        x = x + self.attn(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class Resize(nn.Module):
    """Half the side and twice the channels, or the other way round."""

    def __init__(self, width: int, up: bool) -> None:
        super().__init__()
        outputs = 2 * width if up else width // 2
        self.body = nn.Sequential(
            nn.Conv2d(width, outputs, 3, padding=1, bias=False), nn.PixelShuffle(2) if up else nn.PixelUnshuffle(2)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, width, H, W) -> (B, width * 2, H / 2, W / 2), or (B, width / 2, H * 2, W * 2)."""
        resized: Tensor = self.body(x)
        return resized


class Restormer(nn.Module):
    """Four levels down and up again; what it puts out is added to the picture."""

    def __init__(
        self,
        channels: int = 3,
        width: int = 48,
        blocks: Sequence[int] = (4, 6, 6, 8),
        refinement: int = 4,
        heads: Sequence[int] = (1, 2, 4, 8),
        expansion: float = 2.66,
        norm_bias: bool = False,
    ) -> None:
        """Defaults are the published denoisers' of colour pictures.

        width: channels of the first level.
        blocks: of each level; `refinement` more follow at the end.
        heads: of attention at each level; they divide its channels.
        expansion: hidden channels of the feed-forward parts, as a multiple.
        norm_bias: whether norms take the mean out and have a bias.
        """
        super().__init__()
        self.settings: dict[str, Any] = {
            "channels": channels, "width": width, "blocks": list(blocks), "refinement": refinement,
            "heads": list(heads), "expansion": expansion, "norm_bias": norm_bias,
        }  # fmt: skip
        _check(width, blocks, heads)

        def level(factor: int, place: int, count: int) -> nn.Sequential:
            return nn.Sequential(*(Block(factor * width, heads[place], expansion, norm_bias) for _ in range(count)))

        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(channels, width, 3, padding=1, bias=False)})
        self.encoder_level1, self.down1_2 = level(1, 0, blocks[0]), Resize(width, up=False)
        self.encoder_level2, self.down2_3 = level(2, 1, blocks[1]), Resize(2 * width, up=False)
        self.encoder_level3, self.down3_4 = level(4, 2, blocks[2]), Resize(4 * width, up=False)
        self.latent, self.up4_3 = level(8, 3, blocks[3]), Resize(8 * width, up=True)
        self.reduce_chan_level3 = nn.Conv2d(8 * width, 4 * width, 1, bias=False)
        self.decoder_level3, self.up3_2 = level(4, 2, blocks[2]), Resize(4 * width, up=True)
        self.reduce_chan_level2 = nn.Conv2d(4 * width, 2 * width, 1, bias=False)
        self.decoder_level2, self.up2_1 = level(2, 1, blocks[1]), Resize(2 * width, up=True)
        self.decoder_level1, self.refinement = level(2, 0, blocks[0]), level(2, 0, refinement)
        self.output = nn.Conv2d(2 * width, channels, 3, padding=1, bias=False)

    @staticmethod
    def settings_of(weights: Mapping[str, Tensor]) -> dict[str, Any]:
        """Settings of a published network with these weights: they differ in channels and norms only."""
        bias = "encoder_level1.0.norm1.body.bias" in weights
        return {"channels": weights["patch_embed.proj.weight"].shape[1], "norm_bias": bias}

    def forward(self, images: Tensor) -> Tensor:
        """Floats in [0, 1], (B, H, W, C), of any height and width; the same again, not clipped."""
        height, wide = images.shape[1:3]
        x = images.permute(0, 3, 1, 2)  # (B, C, H, W)
        x = F.pad(x, (0, -wide % _SHRUNK, 0, -height % _SHRUNK), mode="replicate")
        first = self.encoder_level1(self.patch_embed["proj"](x))  # (B, width, H, W)
        second = self.encoder_level2(self.down1_2(first))  # (B, 2 width, H / 2, W / 2)
        third = self.encoder_level3(self.down2_3(second))  # (B, 4 width, H / 4, W / 4)
        y = self.up4_3(self.latent(self.down3_4(third)))  # (B, 4 width, H / 4, W / 4)
        y = self.up3_2(self.decoder_level3(self.reduce_chan_level3(torch.cat([y, third], 1))))
        y = self.up2_1(self.decoder_level2(self.reduce_chan_level2(torch.cat([y, second], 1))))
        y = self.refinement(self.decoder_level1(torch.cat([y, first], 1)))  # (B, 2 width, H, W)
        return (x + self.output(y))[:, :, :height, :wide].permute(0, 2, 3, 1)


def _check(width: int, blocks: Sequence[int], heads: Sequence[int]) -> None:
    if len(blocks) != LEVELS or len(heads) != LEVELS:
        raise ValueError(f"a Restormer has {LEVELS} levels: name so many blocks and heads, got {blocks} and {heads}")
    for level, count in enumerate(heads):
        if (width * 2**level) % count:
            raise ValueError(f"{count} heads do not divide the {width * 2**level} channels of level {level + 1}")
    if width % 2:
        raise ValueError(f"width is a multiple of 2, got {width}")
