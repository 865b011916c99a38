"""Layers for images against the plain operations they stand for."""

import pytest
import torch
from torch.nn import functional as F

from tests import tiny
from wiser.worldmodel.dreamer.decoder import PatchDecoder
from wiser.worldmodel.dreamer.pixels import UpConv, centred, join_patches, painted_error, split_patches
from wiser.worldmodel.protocol import Belief


@pytest.mark.parametrize("shape", [(2, 4, 4, 16), (3, 1, 5, 2), (1, 7, 2, 3)])
@pytest.mark.parametrize("outputs", [1, 3, 8])
def test_up_convolution_is_up_sampling_and_then_convolution(shape, outputs) -> None:
    generator = torch.Generator().manual_seed(0)
    layer = UpConv(shape[-1], outputs).double()
    torch.nn.init.normal_(layer.bias, generator=generator)
    x = torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True)
    large = F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2, mode="nearest")
    expected = F.conv2d(large, layer.weight, layer.bias, padding=2).permute(0, 2, 3, 1)
    found = layer(x)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)

    pull = torch.randn(expected.shape, generator=generator, dtype=torch.float64)
    leaves = (x, layer.weight, layer.bias)
    for ours, theirs in zip(
        torch.autograd.grad((found * pull).sum(), leaves),
        torch.autograd.grad((expected * pull).sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-11)


@pytest.mark.parametrize("size", [1, 2, 8])
def test_joining_undoes_splitting(size) -> None:
    x = torch.arange(2 * 16 * 24 * 3).view(2, 16, 24, 3)
    patches = split_patches(x, size)
    torch.testing.assert_close(patches[1, 0, 1].view(size, size, 3), x[1, :size, size : 2 * size])
    torch.testing.assert_close(join_patches(patches, size), x)


@pytest.mark.parametrize("rows", [0, 1, 16, 37])
@pytest.mark.parametrize("as_bytes", [True, False])
@pytest.mark.parametrize("brush", ["convolution", "product"])
def test_painted_error_is_that_of_the_plain_operations(rows, as_bytes, brush) -> None:
    generator = torch.Generator().manual_seed(rows)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()

    x, bias = draw(rows, 4, 6, 5), draw(12)
    weight, paint = (draw(12, 5, 3, 3), UpConv.cells) if brush == "convolution" else (draw(12, 5), F.linear)
    target = torch.randint(0, 256, (rows, 4, 6, 12), generator=generator, dtype=torch.uint8)
    truth = target / 255.0
    expected = F.mse_loss(torch.sigmoid(paint(x, weight, bias)), truth.double(), reduction="sum")
    found = painted_error(paint, x, weight, bias, target if as_bytes else truth)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)
    ours, theirs = (torch.autograd.grad(0.3 * error, (x, weight, bias)) for error in (found, expected))
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("patch", [7, 8])
@pytest.mark.parametrize("rows", [1, 19])
@pytest.mark.parametrize("as_bytes", [True, False])
def test_the_error_of_patches_is_that_of_the_pixels_there_are(patch, rows, as_bytes) -> None:
    """Patches of 7 cover 28 x 56 pixels of which 16 x 48 are real; value and gradients are those of these."""
    torch.manual_seed(rows)
    config = tiny.config((tiny.image("camera"),), patch=patch)
    decoder = PatchDecoder(config, (16, 48, 3)).double()
    deter = torch.randn(rows, config.deter, dtype=torch.float64).requires_grad_()
    stoch = torch.rand(rows, config.stoch, config.classes, dtype=torch.float64).requires_grad_()
    belief, target = Belief(deter, stoch), torch.randint(0, 256, (rows, 16, 48, 3), dtype=torch.uint8)
    truth = target.double() / 255
    expected = (decoder(belief) - truth).square().sum()
    found = decoder.squared_error(belief, target if as_bytes else truth)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=0)
    leaves = (deter, stoch, *decoder.parameters())
    for ours, theirs in zip(*(torch.autograd.grad(error, leaves) for error in (found, expected)), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("rows", [0, 1, 8, 19])
def test_centred_bytes_are_the_pixels_around_grey(rows) -> None:
    images = torch.randint(0, 256, (rows, 4, 6, 3), dtype=torch.uint8)
    for x in (images, images.permute(0, 3, 1, 2)):
        found = centred(x, torch.float32)
        assert found.stride() == x.stride()
        torch.testing.assert_close(found / 255, x / 255.0 - 0.5, rtol=0, atol=1e-6)
    torch.testing.assert_close(centred(images / 255.0, torch.float64), images.double() / 255 - 0.5, rtol=0, atol=1e-6)
