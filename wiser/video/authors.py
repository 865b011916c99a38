"""The gate as the authors' published code has it, which is not the paper's text.

M compares a decoded frame with the decoded next one, so that what the codec cannot draw goes unnoticed. D is scored and
never used: a frame that is accepted after it goes in as it was. Only the place of the last accepted frame is kept, the
oldest if there is none, and the model goes on from that one frame. There is no predictive mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from wiser.guard import Verdict
from wiser.guard.gate import Passage
from wiser.guard.transitions import Source
from wiser.video.gate import Gated
from wiser.video.predictor import Pixels, Reconstructing, draws_of, unit
from wiser.video.verdicts import verdict_on

TAU, TAU_DENOISED = 4.2e-4, 4.2e-5
FRAMES, STRENGTH, STEPS, DENOISING_STEPS = 5, 0.05, 1, 2


@dataclass(frozen=True)
class AuthorsGating:
    """Their constants."""

    tau: float = TAU
    tau_denoised: float = TAU_DENOISED
    frames: int = FRAMES
    condition: int = 1
    """How many frames the model goes on from; with their gate never more."""


def authors_gate(clip: Pixels, model: Reconstructing, settings: AuthorsGating, seed: int) -> Gated:
    """Judge the last frames of a clip (T, H, W, 3), each by itself, and go on from the last that is accepted."""
    start = max(0, len(clip) - settings.frames)
    frames = unit(clip[start:])  # (N, H, W, 3)
    verdicts: list[Verdict] = []
    chosen, blind = 0, 0
    for place, frame in enumerate(frames):
        passage = _judge(frame, start + place, model, settings, seed)
        accepted = bool(passage.accepted)
        chosen, blind = (place, 0) if accepted else (chosen, blind + 1)
        verdicts.append(verdict_on(passage, settings.tau, settings.tau_denoised, blind, stands=True))
    return Gated(frames[chosen : chosen + 1], frames, tuple(verdicts), start)


def _judge(frame: Tensor, index: int, model: Reconstructing, settings: AuthorsGating, seed: int) -> Passage[Tensor]:
    clip = model.clip(frame, STEPS, draws_of("video/authors", seed, index))
    score, denoised = _step_error(clip, 0), torch.tensor([torch.nan])
    if bool(score <= settings.tau):
        return _passage(Source.POSTERIOR, score, denoised)
    draws = draws_of("video/authors/denoise", seed, index)
    denoised = _step_error(model.clip(frame, DENOISING_STEPS, draws, STRENGTH), 1)
    accepted = bool(denoised <= settings.tau_denoised)
    return _passage(Source.DENOISED if accepted else Source.PRIOR, score, denoised)


def _step_error(clip: Tensor, place: int) -> Tensor:
    """Mean squared error between a decoded frame and the next, (1,)."""
    return (clip[place] - clip[place + 1]).square().mean()[None]


def _passage(source: Source, score: Tensor, denoised: Tensor) -> Passage[Tensor]:
    scores = {"score": score, "denoised": denoised, "context": torch.tensor([torch.nan])}
    return Passage(torch.tensor([int(source)]), scores, None)
