"""Cosmos through its public call: the real classes, small and random, against what must come out of them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("diffusers")
from tests.video.tiny_cosmos import save_tiny, tiny_pipeline
from wiser.video.cosmos import compat
from wiser.video.cosmos.load import RELEASED, PassThrough, load_pipeline
from wiser.video.cosmos.predictor import Cosmos, CosmosSettings
from wiser.video.predictor import draws_of

SMALL = {"height": 32, "width": 48, "clip": 9, "steps": 2, "guidance": 1.0}


def cosmos(**settings: Any) -> Cosmos:
    return Cosmos(tiny_pipeline(), CosmosSettings(**(SMALL | settings)))


def frame(seed: int = 0) -> torch.Tensor:
    return torch.rand(32, 48, 3, generator=torch.Generator().manual_seed(seed))


def call(length: int, **options: Any) -> torch.Tensor:
    """The pipeline itself: (T, 3, H, W)."""
    video = (frame() * 2 - 1).permute(2, 0, 1)[None, :, None]
    return tiny_pipeline()(
        video=video, prompt="", height=32, width=48, num_frames=length, num_inference_steps=1, guidance_scale=1.0,
        num_latent_conditional_frames=1, output_type="pt", generator=draws_of("test", 0), **options,
    ).frames[0]  # fmt: skip


@pytest.mark.parametrize("length", [2, 3, 4])
def test_fewer_than_five_frames_are_one_picture_so_that_m_would_be_nothing(length):
    clip = call(length)
    assert torch.equal(clip[0], clip[1])
    with pytest.raises(ValueError, match="score_clip must be at least 5"):
        CosmosSettings(score_clip=length)


def test_of_five_frames_the_next_one_is_another():
    clip = call(5)
    assert not torch.equal(clip[0], clip[1])
    made = cosmos().follow(frame(), 1, draws_of("test", 0))[0]
    torch.testing.assert_close(made, clip[1].permute(1, 2, 0))


class Oracle:
    """Knows the clean latent: the velocity it gives leads exactly there."""

    def __init__(self, latent: torch.Tensor) -> None:
        self.latent, self.sigmas = latent, []

    def __call__(self, hidden_states: torch.Tensor, timestep: torch.Tensor, **rest: Any) -> tuple[torch.Tensor]:
        self.sigmas.append(float(timestep.max()))
        return ((hidden_states - self.latent) / timestep,)


@pytest.mark.parametrize("sigma", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("steps", [1, 4])
def test_denoising_with_an_oracle_gives_the_frame_back(monkeypatch, sigma, steps):
    model = cosmos(denoise_steps=steps)
    latent = model._encode(frame()[None])
    oracle = Oracle(latent)
    monkeypatch.setattr(model.pipeline.transformer, "forward", oracle)
    before = model.pipeline.scheduler
    found = model.denoise(frame(), sigma, draws_of("test", 1))
    pipeline = model.pipeline
    with torch.no_grad():
        decoded = pipeline.vae.decode(latent / pipeline.latents_std + pipeline.latents_mean, return_dict=False)[0]
    expected = (decoded[0, :, 0] / 2 + 0.5).clamp(0, 1).permute(1, 2, 0)
    assert (found - expected).abs().max() < 1e-5
    assert oracle.sigmas[0] == pytest.approx(sigma, abs=1e-6)  # the schedule begins at exactly this noise
    assert len(oracle.sigmas) == steps
    assert pipeline.scheduler is before


def test_without_an_oracle_denoising_changes_a_frame_and_depends_on_the_draws():
    model = cosmos()
    first, again, other = (model.denoise(frame(), 0.5, draws_of("test", seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize(("given", "count"), [(1, 3), (1, 11), (5, 4), (5, 10)])
def test_a_rollout_is_as_long_as_asked_and_the_same_for_the_same_draws(given, count):
    frames = torch.stack([frame(seed) for seed in range(given)])
    first, again = (cosmos().rollout(frames, count, draws_of("test", 0)) for _ in range(2))
    assert first.shape == (count, 32, 48, 3)
    assert torch.equal(first, again)
    assert not torch.equal(first, cosmos().rollout(frames, count, draws_of("test", 1)))


def test_all_frames_that_are_given_condition_the_rollout(monkeypatch):
    asked: list[dict[str, Any]] = []

    def note(self: Any, **told: Any) -> SimpleNamespace:
        asked.append(told)
        return SimpleNamespace(frames=torch.zeros(1, told["num_frames"], 3, 32, 48))

    monkeypatch.setattr(type(tiny_pipeline()), "__call__", note)
    model = cosmos()
    model.rollout(torch.stack([frame(seed) for seed in range(5)]), 6, draws_of("test", 0))
    model.rollout(frame()[None], 2, draws_of("test", 0))
    told = [(call["video"].shape[2], call["num_latent_conditional_frames"], call["num_frames"]) for call in asked]
    assert told == [(5, 2, 9), (5, 2, 9), (1, 1, 5)]


@pytest.mark.parametrize(("given", "taken"), [(1, 1), (2, 1), (4, 1), (5, 5), (7, 5)])
def test_of_fewer_than_five_frames_the_last_alone_is_gone_on_from(monkeypatch, given, taken):
    asked: list[torch.Tensor] = []
    model, frames = cosmos(), torch.stack([frame(seed) for seed in range(given)])
    generate = model._generate
    monkeypatch.setattr(model, "_generate", lambda known, *rest: asked.append(known) or generate(known, *rest))
    model.rollout(frames, 2, draws_of("test", 0))
    assert torch.equal(asked[0], frames[given - taken :])


def test_guidance_is_for_generations_alone():
    plain, guided = cosmos(), cosmos(guidance=5.0)
    draws = [draws_of("test", 0) for _ in range(4)]
    assert torch.equal(plain.follow(frame(), 1, draws[0])[0], guided.follow(frame(), 1, draws[1])[0])
    made = plain.rollout(frame()[None], 4, draws[2]), guided.rollout(frame()[None], 4, draws[3])
    assert not torch.equal(*made)


def test_frames_of_another_size_are_refused():
    with pytest.raises(ValueError, match="set to 32 x 48, got frames of"):
        cosmos().follow(torch.zeros(16, 16, 3), 1, draws_of("test", 0))


@pytest.mark.parametrize(("settings", "said"), [
    ({"clip": 10}, r"4 n \+ 1"), ({"height": 40}, "multiples of 16"), ({"steps": 0}, "steps must be"),
    ({"clip": 5}, "clip must be at least 9"),
])  # fmt: skip
def test_settings_that_make_no_sense_are_told(settings, said):
    with pytest.raises(ValueError, match=said):
        CosmosSettings(**(SMALL | settings))


def test_a_folder_is_loaded_as_it_was_saved(tmp_path):
    loaded = load_pipeline(str(save_tiny(tmp_path)), device="cpu")
    model = Cosmos(loaded, CosmosSettings(**SMALL))
    assert isinstance(loaded.safety_checker, PassThrough)
    assert model.digest == cosmos().digest
    draws = draws_of("test", 0), draws_of("test", 0)
    assert torch.equal(model.follow(frame(), 1, draws[0])[0], cosmos().follow(frame(), 1, draws[1])[0])


def test_released_weights_come_with_their_guardrail_or_not_at_all(tmp_path):
    if compat.diffusers().utils.is_cosmos_guardrail_available():
        pytest.skip("the guardrail is installed here")
    with pytest.raises(ImportError, match=r"guardrail.*pip install cosmos_guardrail"):
        load_pipeline(RELEASED)
    with pytest.raises(ImportError, match="guardrail"):
        load_pipeline(str(save_tiny(tmp_path)), guardrail=True)


def test_an_unsafe_prompt_is_refused(monkeypatch):
    monkeypatch.setattr(PassThrough, "check_text_safety", lambda self, text: text != "bad")
    with pytest.raises(ValueError, match="unsafe"):
        cosmos(prompt="bad").follow(frame(), 1, draws_of("test", 0))[0]


def test_the_stand_in_for_torchvision_resizes_a_mask_as_it_would():
    mask = torch.from_numpy(np.random.default_rng(0).integers(0, 2, (1, 1, 32, 48))).float()
    rows, columns = np.arange(8) * 32 // 8, np.arange(12) * 48 // 12
    assert torch.equal(compat._resize(mask, [8, 12], "nearest")[0, 0], mask[0, 0][rows][:, columns])
