"""Restormer: a block against NumPy, the whole against a maintained implementation, and the published names."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from scipy.signal import correlate2d
from scipy.special import erf, softmax
from torch import nn

from wiser.guard.learned import Restormer
from wiser.guard.learned.restormer import Block

SMALL = {"width": 8, "blocks": (1, 2, 1, 1), "refinement": 1, "heads": (1, 2, 4, 8)}


def disturbed(network: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for value in network.parameters():
            value += 0.1 * torch.randn(value.shape, generator=generator)
    return network.eval()


def peer() -> type[nn.Module]:
    """deepinv's, without the rest of that package: all of it would need torchvision."""
    found = importlib.util.find_spec("deepinv")
    if found is None or found.origin is None:
        pytest.skip("deepinv is not here: pip install --no-deps deepinv einops")
    home, before = Path(found.origin).parent, set(sys.modules)
    for name in ("deepinv", "deepinv.models", "deepinv.utils"):
        package = ModuleType(name)
        package.__path__ = [str(home.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    files = sys.modules["deepinv.utils.io"] = ModuleType("deepinv.utils.io")
    files.DownloadError = OSError
    try:
        return importlib.import_module("deepinv.models.restormer").Restormer
    finally:
        for name in set(sys.modules) - before:
            if name.split(".")[0] == "deepinv":
                del sys.modules[name]


@pytest.mark.parametrize("norm_bias", [False, True])
def test_pictures_are_those_of_deepinv(norm_bias: bool) -> None:
    ours = disturbed(Restormer(norm_bias=norm_bias, **SMALL))
    theirs = peer()(
        dim=8, num_blocks=SMALL["blocks"], num_refinement_blocks=1, heads=SMALL["heads"],
        LayerNorm_type="WithBias" if norm_bias else "BiasFree", pretrained=None,
    ).eval()  # fmt: skip
    theirs.load_state_dict(ours.state_dict())
    for height, width in ((16, 24), (20, 13)):  # also where sides are no multiples of 8
        pictures = torch.rand((2, height, width, 3), generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            expected = theirs(pictures.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
            torch.testing.assert_close(ours(pictures), expected, atol=1e-5, rtol=1e-5)


def pointwise(layer: nn.Conv2d, x: np.ndarray) -> np.ndarray:
    """A 1x1 convolution: (C, H, W) -> (outputs, H, W)."""
    return np.einsum("oi,ihw->ohw", layer.weight.detach().double().numpy()[:, :, 0, 0], x)


def depthwise(layer: nn.Conv2d, x: np.ndarray) -> np.ndarray:
    """A 3x3 convolution of every channel by itself."""
    kernels = layer.weight.detach().double().numpy()[:, 0]
    return np.stack([correlate2d(plane, kernel, mode="same") for plane, kernel in zip(x, kernels, strict=True)])


def normed(norm: nn.Module, x: np.ndarray) -> np.ndarray:
    body = {name: value.detach().double().numpy() for name, value in norm.body.items()}
    out = np.empty_like(x)
    for h, w in np.ndindex(x.shape[1:]):
        pixel = x[:, h, w]
        centred = pixel - pixel.mean() if "bias" in body else pixel
        out[:, h, w] = centred / np.sqrt(np.var(pixel) + 1e-5) * body["weight"] + body.get("bias", 0.0)
    return out


def by_hand(block: Block, x: np.ndarray) -> np.ndarray:
    """The two formulas of the Restormer paper, MDTA and GDFN, for one picture (C, H, W)."""
    attention, channels = block.attn, len(x)
    mixed = depthwise(attention.qkv_dwconv, pointwise(attention.qkv, normed(block.norm1, x)))
    query, key, value = (part.reshape(channels, -1) for part in np.split(mixed, 3))
    heads, attended = len(attention.temperature), []
    for head, rows in enumerate(np.split(np.arange(channels), heads)):
        q, k = (part[rows] / np.linalg.norm(part[rows], axis=1, keepdims=True) for part in (query, key))
        alike = q @ k.T * attention.temperature[head].item()
        attended.append(softmax(alike, axis=1) @ value[rows])
    x = x + pointwise(attention.project_out, np.concatenate(attended).reshape(x.shape))
    gate, value = np.split(depthwise(block.ffn.dwconv, pointwise(block.ffn.project_in, normed(block.norm2, x))), 2)
    gelu = gate * (1 + erf(gate / np.sqrt(2))) / 2
    return x + pointwise(block.ffn.project_out, gelu * value)


@pytest.mark.parametrize("norm_bias", [False, True])
def test_a_block_is_what_the_formulas_say(norm_bias: bool) -> None:
    block = disturbed(Block(6, 3, 2.66, norm_bias))
    x = torch.randn((2, 6, 5, 7), generator=torch.Generator().manual_seed(0))
    for row, picture in enumerate(x.double().numpy()):
        np.testing.assert_allclose(block(x)[row].detach(), by_hand(block, picture), atol=1e-5)


def test_it_has_the_weights_of_the_published_networks() -> None:
    """The paper counts 26.13 million, with biases in the norms; names of every kind are as in the published files."""
    with torch.device("meta"):
        network, with_biases = Restormer(), Restormer(norm_bias=True)
    assert sum(value.numel() for value in with_biases.parameters()) == 26_126_644
    names = set(network.state_dict())
    assert {
        "patch_embed.proj.weight", "encoder_level1.3.norm1.body.weight", "encoder_level2.5.attn.temperature",
        "latent.7.attn.qkv_dwconv.weight", "down3_4.body.0.weight", "up4_3.body.0.weight", "reduce_chan_level2.weight",
        "decoder_level1.0.ffn.project_in.weight", "refinement.3.ffn.dwconv.weight", "output.weight",
    } <= names  # fmt: skip


def test_settings_that_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match="3 heads do not divide the 8 channels of level 1"):
        Restormer(**{**SMALL, "heads": (3, 2, 4, 8)})
    with pytest.raises(ValueError, match="has 4 levels"):
        Restormer(**{**SMALL, "blocks": (1, 1)})
