"""The authors' variant against a plain transcription of what their code does, on the real classes."""

from functools import cache

import numpy as np
import pytest
import torch

pytest.importorskip("diffusers")
from tests.video.tiny_cosmos import tiny_pipeline
from wiser.guard import Mode
from wiser.video.authors import TAU, TAU_DENOISED, AuthorsGating, authors_gate
from wiser.video.cosmos.predictor import Cosmos, CosmosSettings
from wiser.video.plain import CopyLast
from wiser.video.predictor import draws_of
from wiser.video.treatments import as_published

CLIP = np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3), np.uint8)
CLIP[::3] //= 4  # some frames are much darker than others, so that thresholds can lie between
FRAMES, SEED = 9, 7


@cache
def prompt() -> torch.Tensor:
    return tiny_pipeline().encode_prompt(prompt="", do_classifier_free_guidance=False)[0]


@cache
def transcription(tau: float, tau_denoised: float) -> tuple[int, list[tuple[float, float | None]]]:
    """Index in the last five of the frame that is gone on from, and both scores of each."""
    pipe = tiny_pipeline()
    clean_context, scores = 0, []
    for i in range(5):
        index = len(CLIP) - 5 + i
        x = torch.from_numpy(CLIP[index]).float().permute(2, 0, 1) / 255  # (3, H, W)
        video = (2 * x - 1)[None, :, None]  # one frame; the pipeline repeats it to the end
        told = {
            "video": video, "prompt_embeds": prompt(), "height": 32, "width": 32, "num_frames": FRAMES,
            "guidance_scale": 1.0, "num_latent_conditional_frames": 1, "output_type": "pt",
        }  # fmt: skip
        out = pipe(**told, num_inference_steps=1, generator=draws_of("video/authors", SEED, index)).frames[0]
        score = float(((out[0] - out[1]) ** 2).mean())
        if score <= tau:
            clean_context = i
            scores.append((score, None))
            continue
        with torch.no_grad():
            encoded = pipe.vae.encode(video.repeat(1, 1, FRAMES, 1, 1)).latent_dist.mode()
        mean = torch.tensor(pipe.vae.config.latents_mean).view(1, -1, 1, 1, 1)
        std = torch.tensor(pipe.vae.config.latents_std).view(1, -1, 1, 1, 1)
        draws = draws_of("video/authors/denoise", SEED, index)
        noise = torch.randn(encoded.shape, generator=draws)
        latents = (1 - 0.05) * (encoded - mean) / std + 0.05 * noise
        out = pipe(**told, num_inference_steps=2, latents=latents, generator=draws).frames[0]
        again = float(((out[1] - out[2]) ** 2).mean())
        if again <= tau_denoised:
            clean_context = i
        scores.append((score, again))
    return clean_context, scores


@cache
def both_scores() -> tuple[list[float], list[float]]:
    _, pairs = transcription(0.0, 0.0)
    return [score for score, _ in pairs], [again for _, again in pairs if again is not None]


@pytest.mark.parametrize("kind", ["published constants", "some clean", "some denoised", "all clean", "none"])
def test_it_decides_as_the_transcription_does(kind):
    first, second = both_scores()
    tau, tau_denoised = {
        "published constants": (TAU, TAU_DENOISED),
        "some clean": (sorted(first)[2], 0.0),
        "some denoised": (sorted(first)[0], sorted(second)[2]),
        "all clean": (1.0, 0.0),
        "none": (0.0, 0.0),
    }[kind]
    expected, scores = transcription(tau, tau_denoised)
    model = Cosmos(tiny_pipeline(), CosmosSettings(height=32, width=32, clip=FRAMES, guidance=1.0))
    found = authors_gate(CLIP, model, AuthorsGating(tau, tau_denoised), SEED)
    assert torch.equal(found.context[0], torch.from_numpy(CLIP[len(CLIP) - 5 + expected]).float() * (1 / 255))
    assert found.context.shape == (1, 32, 32, 3)  # one frame, as it was observed: D is never used
    for verdict, (score, again) in zip(found.verdicts, scores, strict=True):
        assert verdict.scores["score"] == pytest.approx(score, rel=1e-4)
        assert verdict.scores["denoised"] == pytest.approx(again, rel=1e-4, nan_ok=True) if again else True
        taken = score <= tau or (again is not None and again <= tau_denoised)
        assert (verdict.mode != Mode.PREDICTIVE) == taken
    if kind == "none":
        assert expected == 0


def test_a_model_that_decodes_nothing_cannot_be_judged_so():
    with pytest.raises(ValueError, match="only Cosmos has"):
        as_published(CLIP, CopyLast(), None, 0)
