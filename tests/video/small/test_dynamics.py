"""What the transformer is trained on is what its pipeline will show it, and it learns."""

from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("diffusers")
from wiser.video.small.clips import film, to_video
from wiser.video.small.codec import build_codec, measure_latents
from wiser.video.small.controls import generate, with_transformer
from wiser.video.small.course import follow
from wiser.video.small.dynamics import GIVEN, SIGMAS, dynamics_course, embed_prompts, example, normalise
from wiser.video.small.pipeline import assemble, build_scheduler, build_transformer
from wiser.video.small.text import WIDTH


@pytest.fixture(scope="module")
def pipeline() -> Any:
    codec = build_codec(12, 0, pictures=6).eval()
    with torch.no_grad():
        measure_latents(codec, codec.encode(to_video([film(0, 9)])).latent_dist.mode())
    return assemble(codec, build_transformer(1, 1, 0).eval(), 0)


def latents_of(pipeline: Any, clip: np.ndarray) -> torch.Tensor:
    with torch.no_grad():
        return normalise(pipeline.vae, pipeline.vae.encode(to_video([clip])).latent_dist.mode())


class Oracle(torch.nn.Module):
    """Knows the clip; remembers what it was shown."""

    def __init__(self, real: Any, truth: torch.Tensor) -> None:
        super().__init__()
        self.config, self.dtype, self.device = real.config, real.dtype, real.device
        self.truth, self.shown = truth, []

    def forward(self, hidden_states: torch.Tensor, timestep: torch.Tensor, **rest: Any) -> tuple[torch.Tensor]:
        self.shown.append((hidden_states, timestep, rest["condition_mask"]))
        return ((hidden_states - self.truth) / timestep,)


@pytest.mark.parametrize("given", [1, 5])
def test_the_pipeline_shows_what_was_trained_on(pipeline, given):
    clip = film(1, 9)
    truth = latents_of(pipeline, clip)
    oracle = Oracle(pipeline.transformer, truth)
    made = generate(with_transformer(pipeline, oracle), clip[:given], 9, 4, 0)
    for hidden, time, mask in oracle.shown:
        known = (given + 3) // 4
        sigma = float(time[0, 0, -1])
        assert SIGMAS[0] - 1e-4 <= sigma <= SIGMAS[1] + 1e-4
        np.testing.assert_allclose(time.flatten(), [GIVEN] * known + [sigma] * (3 - known), rtol=1e-5)
        torch.testing.assert_close(hidden[:, :, :known], truth[:, :, :known])
        assert mask[0, 0, :, 0, 0].tolist() == [1.0] * known + [0.0] * (3 - known)
    with torch.no_grad():
        best = pipeline.vae.decode(truth / pipeline.latents_std + pipeline.latents_mean).sample * 0.5 + 0.5
    # The pipeline begins at noise alone where its schedule says 0.995: half a percent of it stays in given latents.
    torch.testing.assert_close(made, best[0].permute(1, 2, 3, 0).clamp(0, 1), atol=1e-2, rtol=0)


def test_an_example_holds_what_it_says():
    latents = torch.randn(200, 4, 3, 2, 2, generator=torch.Generator().manual_seed(0))
    shown = example(latents, np.random.default_rng(0))
    known = shown.given.flatten(1).sum(1)
    assert set(known.tolist()) == {1.0, 2.0}
    mask = shown.given.bool().expand_as(latents)
    assert torch.equal(shown.noisy[mask], latents[mask])
    assert (shown.time[shown.given.bool()] == GIVEN).all()
    sigma = shown.time.expand_as(latents)[~mask]
    torch.testing.assert_close(shown.noisy[~mask] - sigma * shown.velocity[~mask], latents[~mask], atol=1e-5, rtol=1e-5)
    assert SIGMAS[0] <= sigma.min()
    assert sigma.max() == torch.tensor(SIGMAS[1])
    alone = example(latents[:, :, :1], np.random.default_rng(0))
    assert not alone.given.any()


def test_noise_reaches_as_far_as_the_schedulers():
    for steps in (1, 4, 36):
        scheduler = build_scheduler()
        scheduler.set_timesteps(steps)
        sigmas = scheduler.sigmas[:-1]
        assert float(sigmas.max()) == pytest.approx(SIGMAS[1], abs=1e-4)
        assert float(sigmas.min()) >= SIGMAS[0] - 1e-4


def test_latents_are_normalised_as_by_the_pipeline(pipeline):
    clip = film(2, 9)
    spy = Oracle(pipeline.transformer, torch.zeros(1))
    generate(with_transformer(pipeline, spy), clip[:1], 5, 1, 0)
    torch.testing.assert_close(spy.shown[0][0][:, :, :1], latents_of(pipeline, clip)[:, :, :1])


def test_prompts_become_what_the_pipeline_makes_of_them(pipeline):
    prompts = embed_prompts(pipeline)
    assert prompts.shape[1:] == (512, WIDTH)
    torch.testing.assert_close(prompts[0], pipeline.encode_prompt("", do_classifier_free_guidance=False)[0][0])


def test_a_transformer_learns(pipeline, tmp_path):
    latents = torch.randn(4, 16, 3, 4, 4, generator=torch.Generator().manual_seed(0)) * 0.1
    transformer = build_transformer(1, 1, 0)
    losses = []
    course = dynamics_course(transformer, latents, embed_prompts(pipeline)[:, :32], 60, 0, batch=4)
    follow(course, tmp_path / "transformer.safetensors", lambda step, loss: losses.append(loss))
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:10])
