"""Predictors without a network against what they should be in closed form."""

import numpy as np
import pytest
import torch

from tests.video.worlds import moving_blob
from wiser.video.plain import CopyLast, Linear
from wiser.video.predictor import draws_of, pixels, unit


def test_the_copy_is_the_last_frame_again_and_again():
    frames = unit(moving_blob(5, 0))
    draws = draws_of("test", 0)
    assert torch.equal(CopyLast().follow(frames[0], 1, draws)[0], frames[0])
    assert torch.equal(CopyLast().rollout(frames, 3, draws), frames[-1].expand(3, -1, -1, -1))


def test_a_world_that_is_linear_is_known_after_a_few_clips():
    """Latents turn by a fixed angle, frames are linear in them: the fitted step must foresee clips it never saw."""
    rng = np.random.default_rng(1)
    basis = rng.normal(size=(2, 8 * 8 * 3)) * 0.1
    turn = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])

    def clip(seed: int, frames: int) -> np.ndarray:
        z = np.random.default_rng(seed).normal(size=2)
        path = np.stack([np.linalg.matrix_power(turn, t) @ z for t in range(frames)])
        return np.clip((0.5 + path @ basis) * 255, 0, 255).round().astype(np.uint8).reshape(frames, 8, 8, 3)

    model = Linear.fit([clip(seed, 30) for seed in range(2, 8)], components=2)
    unseen = clip(99, 6)
    made = model.rollout(unit(unseen[:1]), 5, draws_of("test", 0))
    assert (made - unit(unseen[1:])).abs().mean() < 0.01
    assert (unit(unseen[:1]) - unit(unseen[1:])).abs().mean() > 0.04


def test_denoising_takes_away_what_the_world_does_not_have():
    model = Linear.fit([moving_blob(40, seed) for seed in range(8)], components=12)
    clean = unit(moving_blob(1, 30)[0])
    noisy = (clean + 0.2 * torch.randn(clean.shape, generator=draws_of("noise", 0))).clamp(0, 1)
    mended = model.denoise(noisy, 0.05, draws_of("test", 0))
    assert (mended - clean).abs().mean() < 0.3 * (noisy - clean).abs().mean()


@pytest.mark.parametrize("sigma", [0.1, 0.5, 0.9])
def test_denoised_latents_are_as_spread_as_clean_ones(sigma):
    """The flow of a normal distribution ends in that distribution, whatever the noise."""
    clips = [moving_blob(40, seed) for seed in range(8)]
    model = Linear.fit(clips, components=6)
    frames = unit(np.concatenate(clips))
    z = torch.stack([model._encode(model.denoise(frame, sigma, draws_of("d", 0, i))) for i, frame in enumerate(frames)])
    assert z.std() == pytest.approx(1.0, abs=0.1)


def test_bytes_survive_the_way_to_floats_and_back():
    every = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1).repeat(3, 3)
    assert np.array_equal(pixels(unit(every)), every)
