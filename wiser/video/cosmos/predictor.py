"""Cosmos Predict 2.5 as a predictor, through nothing but the public call of its pipeline."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from wiser.checks import at_least
from wiser.video.predictor import Draws

SCORED_BY = ("height", "width", "prompt", "score_steps", "score_clip", "denoise_steps")
"""Settings that scores depend on."""
GRID = 16
"""Sides of frames are multiples of this."""
PER_LATENT = 4
"""Frames that a latent stands for, but for the first one, which stands for one."""


@dataclass(frozen=True)
class CosmosSettings:
    """How the model is asked."""

    height: int = 704
    width: int = 1280
    prompt: str = ""
    steps: int = 36
    """Diffusion steps of a generation."""
    guidance: float = 7.0
    """Of a generation, towards the prompt; 1 = none, which halves the work. Scores and D are without."""
    clip: int = 93
    """Frames of a generation: 4 n + 1."""
    score_steps: int = 1
    """Diffusion steps of M."""
    score_clip: int = 5
    """Frames generated for M. Below five there is one latent, the next frame is the same one, and M is 0."""
    denoise_steps: int = 4
    """Diffusion steps of D."""

    def __post_init__(self) -> None:
        at_least(1, steps=self.steps, score_steps=self.score_steps, denoise_steps=self.denoise_steps)
        at_least(PER_LATENT + 1, score_clip=self.score_clip)
        at_least(2 * PER_LATENT + 1, clip=self.clip)
        for name in ("clip", "score_clip"):
            if (getattr(self, name) - 1) % PER_LATENT:
                raise ValueError(f"{name} is 4 n + 1 frames, such as 9 or 93, got {getattr(self, name)}")
        if self.height % GRID or self.width % GRID or min(self.height, self.width) < GRID:
            raise ValueError(f"height and width are multiples of {GRID}, got {self.height} x {self.width}")


class Cosmos:
    """A `Predictor`, and `Reconstructing`, made of a `Cosmos2_5_PredictBasePipeline`."""

    title = "cosmos"

    def __init__(self, pipeline: Any, settings: CosmosSettings) -> None:
        self.pipeline, self.settings = pipeline, settings
        pipeline.set_progress_bar_config(disable=True)

    @property
    def about(self) -> dict[str, Any]:
        """What M depends on."""
        told = asdict(self.settings)
        return {name: told[name] for name in SCORED_BY}

    @cached_property
    def digest(self) -> str:
        """Of the transformer's and the codec's weights."""
        digest = hashlib.sha256()
        for part in (self.pipeline.transformer, self.pipeline.vae):
            for name, value in sorted(part.state_dict().items()):
                digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
                digest.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
        return digest.hexdigest()

    def follow(self, frame: Tensor, count: int, draws: Draws) -> Tensor:
        """The frames after this one, from it alone, in few steps and without guidance."""
        length = max(self.settings.score_clip, _whole(count + 1))
        return self._generate(frame[None], length, self.settings.score_steps, draws)[1 : count + 1]

    def clip(self, frame: Tensor, steps: int, draws: Draws, strength: float | None = None) -> Tensor:
        """A whole decoded clip (T, H, W, 3) from one frame; the codec's view of that frame comes first."""
        if strength is None:
            return self._generate(frame[None], self.settings.clip, steps, draws)
        latents = self._noisy(self._encode(frame[None].expand(self.settings.clip, -1, -1, -1)), strength, draws)
        return self._generate(frame[None], self.settings.clip, steps, draws, latents=latents)

    def denoise(self, frame: Tensor, sigma: float, draws: Draws) -> Tensor:
        """D: the frame's latent with noise of strength sigma, taken back along the model's own flow, and decoded."""
        latents = self._noisy(self._encode(frame[None]), sigma, draws)
        with self._starting_at(sigma):
            return self._generate(None, 1, self.settings.denoise_steps, draws, latents=latents)[0]

    def rollout(self, frames: Tensor, count: int, draws: Draws) -> Tensor:
        """The next frames after the last five, or after the last one alone where there are fewer; then on from five.

        It takes one frame or five. Copies of one frame would tell it that nothing moves.
        """
        found: list[Tensor] = []
        known = frames[-(PER_LATENT + 1) :] if len(frames) > PER_LATENT else frames[-1:]
        while len(found) < count:
            length = min(self.settings.clip, _whole(len(known) + count - len(found)))
            clip = self._generate(known, length, self.settings.steps, draws, self.settings.guidance)
            found += list(clip[len(known) :])
            known = clip[-(PER_LATENT + 1) :]
        return torch.stack(found[:count])  # (count, H, W, 3)

    def _generate(
        self,
        frames: Tensor | None,
        length: int,
        steps: int,
        draws: Draws,
        guidance: float = 1.0,
        latents: Tensor | None = None,
    ) -> Tensor:
        """The pipeline's call: a clip (length, H, W, 3) that begins with `frames`, if there are any."""
        given = 1 if frames is None else len(frames)
        clip = self.pipeline(
            video=None if frames is None else self._video(frames),
            prompt_embeds=self._prompts[0],
            negative_prompt_embeds=self._prompts[1],
            height=self.settings.height,
            width=self.settings.width,
            num_frames=length,
            num_inference_steps=steps,
            guidance_scale=guidance,
            num_latent_conditional_frames=(given - 1) // PER_LATENT + 1,
            latents=latents,
            generator=draws,
            output_type="pt",
        ).frames
        return clip[0].permute(0, 2, 3, 1).float().cpu()  # (length, H, W, 3)

    @cached_property
    def _prompts(self) -> tuple[Tensor, Tensor | None]:
        """Embeddings of the prompt and of what guidance leads away from: once, for the text encoder is large."""
        if not self.pipeline.safety_checker.check_text_safety(self.settings.prompt):
            raise ValueError("the guardrail of Cosmos finds this prompt unsafe: change it")
        guided = self.settings.guidance > 1.0
        with torch.no_grad():
            found = self.pipeline.encode_prompt(prompt=self.settings.prompt, do_classifier_free_guidance=guided)
        return found[0], found[1]

    def _video(self, frames: Tensor) -> Tensor:
        """(T, H, W, 3) in [0, 1] -> (1, 3, T, H, W) in [-1, 1], which the pipeline takes as it is."""
        size = (self.settings.height, self.settings.width)
        if tuple(frames.shape[1:3]) != size:
            raise ValueError(f"this model is set to {size[0]} x {size[1]}, got frames of {tuple(frames.shape[1:3])}")
        return (frames * 2.0 - 1.0).permute(3, 0, 1, 2)[None]

    @torch.no_grad()
    def _encode(self, frames: Tensor) -> Tensor:
        """Normalised latents (1, C, t, h, w), as the pipeline makes them."""
        vae = self.pipeline.vae
        latents = vae.encode(self._video(frames).to(vae.device, vae.dtype)).latent_dist.mode().float().cpu()
        return (latents - self.pipeline.latents_mean) * self.pipeline.latents_std  # which is one over their spread

    def _noisy(self, latents: Tensor, strength: float, draws: Draws) -> Tensor:
        noise = torch.randn(latents.shape, generator=draws)
        return ((1.0 - strength) * latents + strength * noise).to(self.pipeline.vae.device)

    @contextmanager
    def _starting_at(self, sigma: float) -> Iterator[None]:
        """A schedule that begins at this noise: of s the scheduler makes s / (1 + s)."""
        before = self.pipeline.scheduler
        if sigma / (1.0 - sigma) <= before.config.sigma_min:
            raise ValueError(f"sigma {sigma} is below the model's least noise, {before.config.sigma_min}")
        self.pipeline.scheduler = type(before).from_config(before.config, sigma_max=sigma / (1.0 - sigma))
        try:
            yield
        finally:
            self.pipeline.scheduler = before


def _whole(frames: int) -> int:
    """The least number of frames that is 4 n + 1 and no fewer."""
    return -(-(frames - 1) // PER_LATENT) * PER_LATENT + 1
