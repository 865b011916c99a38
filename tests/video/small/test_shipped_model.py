"""Controls of the model that is shipped: without them a good-looking prediction proves nothing.

Clips are those of seeds that nothing was trained on.
"""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

pytest.importorskip("diffusers")
from wiser import seeds
from wiser.video.cosmos.load import load_pipeline
from wiser.video.small.clips import film, to_video
from wiser.video.small.controls import (
    forgetful,
    generate,
    influence,
    own_share,
    prediction_errors,
    reconstruct,
    stillness,
)
from wiser.video.small.detection import score_clips
from wiser.video.small.pipeline import load, write
from wiser.video.small.plan import PICTURES, SHIPPED

pytestmark = pytest.mark.skipif(not SHIPPED.exists(), reason="the small model is still being trained")
FIRST = seeds.INDEPENDENT.start
WEIGHTS = ("vae/diffusion_pytorch_model.safetensors", "transformer/diffusion_pytorch_model.safetensors")
MISSING = "no weights in wiser/video/small: python -m wiser.video.small.train makes them"
pytestmark = pytest.mark.skipif(not (SHIPPED / WEIGHTS[0]).is_file(), reason=MISSING)


@pytest.fixture(scope="module")
def pipeline():
    return load()


@pytest.fixture(scope="module")
def clips():
    """In which something moves."""
    drawn = (film(FIRST + i, PICTURES) for i in range(100))
    moving = (clip for clip in drawn if np.square(clip[8] / 255.0 - clip[0] / 255.0).mean() > 2e-3)
    return [next(moving) for _ in range(4)]


def test_what_stands_still_comes_back_still(pipeline, clips):
    for clip in clips:
        found = stillness(pipeline.vae, clip)
        assert abs(found.invented) < 0.1
        assert found.followed > 0.5
        assert found.flicker < 1e-3


def test_each_latent_moves_its_own_pictures(pipeline, clips):
    moved = torch.stack([influence(pipeline.vae, *pair) for pair in zip(clips, clips[1:] + clips[:1], strict=True)])
    assert (own_share(moved.mean(0)) > 0.8).all()


def test_a_codec_of_habit_would_be_found_out(pipeline, clips):
    """The same controls on a codec that knows its clip by heart, and on one whose later latents do nothing."""

    class ByHeart:
        encode = pipeline.vae.encode

        def decode(self, latents):
            return SimpleNamespace(sample=to_video(clips[:1]))

    class FirstOnly:
        encode = pipeline.vae.encode

        def decode(self, latents):
            return pipeline.vae.decode(latents[:, :, :1].expand_as(latents) + 1e-3 * latents)

    assert stillness(ByHeart(), clips[0]).invented == pytest.approx(1.0)
    assert own_share(influence(FirstOnly(), clips[0], clips[1])).min() < 0.5


def test_the_codec_gives_pictures_back(pipeline, clips):
    video = to_video(clips)
    error = float((reconstruct(pipeline.vae, video) - video).square().mean() / 4)
    assert error < 0.1 * float((video - video.mean()).square().mean() / 4)


def test_it_predicts_better_than_standing_still_and_a_random_transformer_does_not(pipeline, clips):
    errors = prediction_errors(pipeline, clips, 1, steps=(4,))
    model, random = errors["model, 4 steps"], errors["random transformer, 4 steps"]
    assert random > 3 * model
    assert model < errors["last given picture, through the codec"]
    assert model > errors["codec alone, told the truth"]  # otherwise the codec, not the transformer, predicts


def test_another_seed_is_another_future(pipeline, clips):
    one, two, again = (generate(pipeline, clips[0][:1], PICTURES, 4, seed) for seed in (0, 1, 0))
    assert torch.equal(one, again)
    assert (one[1:] - two[1:]).abs().max() > 0.02


def test_the_codecs_own_error_stands_beside_m(pipeline):
    """All scores are what they are called, by hand."""
    scores = score_clips(pipeline, [FIRST])[0]
    clip = film(FIRST, 6)
    decoded, following = generate(pipeline, clip[5:], 5, 1, FIRST)[:2].numpy()
    expected = generate(pipeline, clip[:5], PICTURES, 1, FIRST)[5].numpy()
    seen, last = clip[5] / 255.0, clip[4] / 255.0
    pairs = (following, seen), (following, decoded), (decoded, seen), (expected, seen), (last, seen)
    np.testing.assert_allclose(scores, [((a - b) ** 2).mean() for a, b in pairs])
    alone = (reconstruct(pipeline.vae, to_video([clip[5:]])) * 0.5 + 0.5).clamp(0, 1)
    assert scores[2] == pytest.approx(float(np.square(alone[0, :, 0].permute(1, 2, 0).numpy() - seen).mean()), rel=1e-3)
    assert score_clips(pipeline, [FIRST], "gaussian", 0.75)[0, 0] > scores[0]


def test_a_pipeline_read_from_any_folder_draws_the_same(pipeline, clips, tmp_path):
    shutil.copytree(SHIPPED, tmp_path / "copy")
    other = load_pipeline(str(tmp_path / "copy"))
    given = clips[0][:5]
    assert torch.equal(generate(other, given, PICTURES, 2, 3), generate(pipeline, given, PICTURES, 2, 3))


def test_writing_what_was_read_loses_nothing(pipeline, tmp_path):
    write(pipeline, tmp_path)
    for name in WEIGHTS:
        ours, theirs = load_file(tmp_path / name), load_file(SHIPPED / name)
        assert all(torch.equal(ours[key], theirs[key]) for key in theirs)
    assert next(iter(pipeline.transformer.parameters())).dtype == torch.float32


def test_it_is_small():
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*.safetensors")) < 8e6


def test_a_transformer_that_forgot_keeps_everything_else(pipeline):
    other = forgetful(pipeline, 0)
    assert other.vae is pipeline.vae
    assert other.transformer is not pipeline.transformer
