"""The codec starts as the best linear one: against NumPy and scikit-learn, and against a random start."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

pytest.importorskip("diffusers")
from diffusers import AutoencoderKLWan
from torch.nn import functional as F

from wiser.video.small.clips import film, to_video
from wiser.video.small.codec import build_codec
from wiser.video.small.controls import reconstruct
from wiser.video.small.warmstart import components, undo


def pictures(first: int, count: int) -> torch.Tensor:
    return to_video([film(first + i, 1) for i in range(count)])


def test_components_are_those_of_scikit_learn():
    patches = F.pixel_unshuffle(pictures(0, 3)[:, :, 0], 4)  # (3, 48, 16, 16)
    matrix, mean = components(patches, 6)
    flat = patches.permute(0, 2, 3, 1).flatten(0, 2).numpy()
    peer = PCA(6, whiten=True).fit(flat)
    ours = (flat - mean.numpy()) @ matrix.numpy().T
    agreement = np.abs(np.corrcoef(ours.T, peer.transform(flat).T)[:6, 6:]).diagonal()
    np.testing.assert_allclose(agreement, 1.0, atol=1e-3)
    np.testing.assert_allclose(ours.std(0), 1.0, atol=1e-2)


def test_a_convolution_undoes_as_well_as_least_squares():
    generator = torch.Generator().manual_seed(0)
    coarse, fine = torch.randn(2, 3, 6, 6, generator=generator), torch.randn(2, 4, 12, 12, generator=generator)
    conv = torch.nn.Conv2d(5, 7, 3, padding=1)
    with torch.no_grad():
        returned = undo(coarse, fine, conv)
        inputs = torch.cat((F.interpolate(coarse, scale_factor=2), torch.randn(2, 2, 12, 12)), 1)
        made = conv(inputs)[:, :4]
    torch.testing.assert_close(made, returned, atol=1e-4, rtol=1e-4)
    padded = F.pad(F.interpolate(coarse, scale_factor=2), (1, 1, 1, 1)).numpy()
    rows = [
        [*padded[b, :, y : y + 3, x : x + 3].ravel(), 1.0] for b in range(2) for y in range(12) for x in range(12)
    ]  # fmt: skip
    targets = fine.permute(0, 2, 3, 1).reshape(-1, 4).numpy()
    best = np.linalg.lstsq(np.array(rows), targets, rcond=None)[1].sum() / targets.size
    assert float((made - fine).square().mean()) == pytest.approx(best, rel=1e-3)


def test_before_any_training_colours_come_back():
    video = pictures(2_500_000, 4)
    started = build_codec(12, 0, pictures=12)
    torch.manual_seed(0)
    blank = AutoencoderKLWan.from_config(started.config)
    error, chance = (float((reconstruct(codec, video) - video).square().mean() / 4) for codec in (started, blank))
    assert error < 0.005
    assert chance > 10 * error
