"""Where the codec's training starts: as the best linear codec of single pictures, which is known without training.

Residual branches begin at zero. What is left is a chain of convolutions: the encoder's are set to the principal
components of 4 x 4 pixels, the decoder's by least squares to what undoes them. From a random start the same codec takes
a thousand steps to tell colours apart. Its normalisations, which keep directions only, leave sizes alone as long as one
channel is a large constant; and SiLU(x) - SiLU(-x) is x.
"""

from __future__ import annotations

import torch
from diffusers import AutoencoderKLWan
from diffusers.models.autoencoders.autoencoder_kl_wan import WanAttentionBlock, WanResidualBlock
from torch import Tensor, nn
from torch.nn import functional as F

CONSTANTS = (16.0, 6.0)
"""The large channel before the normalisations at the ends of encoder and decoder."""
NARROWEST = 12
"""Channels that hold all of two by two pixels."""
RIDGE = 1e-4
"""Of least squares, of the mean square of what is combined."""


@torch.no_grad()
def start_linear(codec: AutoencoderKLWan, pictures: Tensor) -> None:
    """Make a codec of a quarter of the side linear and as good as that can be on pictures (B, 3, H, W)."""
    if codec.config["base_dim"] < NARROWEST:
        raise ValueError(f"a codec has at least {NARROWEST} channels, got {codec.config['base_dim']}")
    for module in codec.modules():
        if isinstance(module, WanResidualBlock):
            _blank(module.conv2)
        if isinstance(module, WanAttentionBlock):
            _blank(module.proj)
    _start_encoder(codec, pictures)
    latents = codec.encode(pictures[:, :, None]).latent_dist.mode()[:, :, 0]  # (B, z, H / 4, W / 4)
    _start_decoder(codec, latents, pictures)


def _start_encoder(codec: AutoencoderKLWan, pictures: Tensor) -> None:
    first, halve, widen, again, double = (
        codec.encoder.conv_in, codec.encoder.down_blocks[1].resample[1], codec.encoder.down_blocks[2].conv_shortcut,
        codec.encoder.down_blocks[3].resample[1], codec.encoder.down_blocks[4].conv_shortcut,
    )  # fmt: skip
    kept = again.out_channels
    matrix, mean = components(F.pixel_unshuffle(F.pixel_unshuffle(pictures, 2), 2), kept)  # (kept, 48), (48,)
    _set(first, torch.eye(3))
    _blank(halve, 12)
    for part in range(12):  # channel, row and column of two by two pixels
        halve.weight[part, part // 4, part // 2 % 2, part % 2] = 1.0
    _set(widen, torch.eye(12))
    _blank(again)
    again.weight[:, :12, :2, :2] = matrix.view(kept, 12, 2, 2)
    again.bias.copy_(-matrix @ mean)
    z = codec.z_dim
    _set(double, torch.cat((torch.eye(z, kept), -torch.eye(z, kept), torch.zeros(1, kept))))
    double.bias[2 * z] = CONSTANTS[0]
    _subtract(codec.encoder.conv_out, z, CONSTANTS[0])
    _blank(codec.quant_conv)
    codec.quant_conv.weight[:, :, 0, 0, 0] = torch.eye(2 * z)


def _start_decoder(codec: AutoencoderKLWan, latents: Tensor, pictures: Tensor) -> None:
    z = codec.z_dim
    _blank(codec.post_quant_conv)
    codec.post_quant_conv.weight[:, :, 0, 0, 0] = torch.eye(z)
    _set(codec.decoder.conv_in, torch.eye(z))
    grow, finish = (codec.decoder.up_blocks[i].upsamplers[0].resample[1] for i in (0, 1))
    halves = undo(latents, F.pixel_unshuffle(pictures, 2), grow)  # (B, 12, H / 2, W / 2)
    undo(halves, pictures, finish)
    finish.weight[3:6], finish.bias[3:6] = -finish.weight[:3], -finish.bias[:3]
    finish.weight[6], finish.bias[6] = 0.0, CONSTANTS[1]
    _subtract(codec.decoder.conv_out, 3, CONSTANTS[1])


def components(patches: Tensor, kept: int) -> tuple[Tensor, Tensor]:
    """Principal components of (B, C, H, W) at unit variance, largest first, (kept, C), and the mean (C,)."""
    flat = patches.transpose(0, 1).flatten(1)  # (C, B H W)
    variances, directions = torch.linalg.eigh(torch.cov(flat))
    return (directions / variances.sqrt()).T.flip(0)[:kept], flat.mean(1)


def undo(coarse: Tensor, fine: Tensor, conv: nn.Conv2d) -> Tensor:
    """Set a 3 x 3 convolution so that (B, C, h, w) made twice as large becomes (B, D, 2 h, 2 w) as well as can be.

    Its first D outputs are set, from its first C inputs; returns what they become.
    """
    B, C = coarse.shape[:2]
    D, H, W = fine.shape[1:]
    columns = F.unfold(F.interpolate(coarse, scale_factor=2, mode="nearest"), 3, padding=1)  # (B, 9 C, H W)
    rows = torch.cat((columns, torch.ones_like(columns[:, :1])), 1).transpose(1, 2).flatten(0, 1).double()
    square = rows.T @ rows  # (9 C + 1, 9 C + 1)
    square += RIDGE * square.diagonal().mean() * torch.eye(len(square), dtype=square.dtype)
    found = torch.linalg.solve(square, rows.T @ fine.transpose(0, 1).flatten(1).T.double())  # (9 C + 1, D)
    _blank(conv, D)
    assert conv.bias is not None
    conv.weight[:D, :C] = found[:-1].T.view(D, C, 3, 3)
    conv.bias[:D] = found[-1]
    return (rows @ found).float().view(B, H, W, D).permute(0, 3, 1, 2)


def _blank(conv: nn.Conv2d | nn.Conv3d, outputs: int | None = None) -> None:
    """Let the first outputs, or all, be zero."""
    assert conv.bias is not None
    nn.init.zeros_(conv.weight[:outputs])
    nn.init.zeros_(conv.bias[:outputs])


def _set(conv: nn.Conv3d, matrix: Tensor) -> None:
    """Let the first outputs be this of the first inputs, at the same place and time."""
    outputs, inputs = matrix.shape
    _blank(conv, outputs)
    conv.weight[:outputs, :inputs, -1, conv.kernel_size[1] // 2, conv.kernel_size[2] // 2] = matrix


def _subtract(conv: nn.Conv3d, pairs: int, constant: float) -> None:
    """Let output i be input i without input `pairs` + i, as large as before the normalisation."""
    _set(conv, torch.cat((torch.eye(pairs), -torch.eye(pairs)), 1) * constant / conv.in_channels**0.5)
