"""The gate over the last frames of a video: accept each, accept it denoised, or put the model's own prediction there.

M(x) is the mean squared error between a frame and the immediate next frame that the model generates from it alone. The
tests, the stages and the table are those of the guard's rejection (`wiser.guard.gate`); here is what a video model does
with their answer. Its *context* is the frames it goes on from: accepted and denoised frames join it, and so do
predictions, until a frame is accepted again and the context begins anew with that one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from wiser.checks import at_least
from wiser.guard import Mode, Verdict
from wiser.guard.gate import Exam, Gate, Passage
from wiser.guard.transitions import Transitions
from wiser.video.predictor import Pixels, Predictor, draws_of, unit
from wiser.video.verdicts import least_bad, verdict_on

BEGIN, USABLE = torch.tensor([False]), torch.tensor([True])


@dataclass(frozen=True)
class Gating:
    """How to judge frames."""

    tau: float
    """Threshold of M(x)."""
    tau_denoised: float
    """Threshold of M(D(x))."""
    frames: int = 5
    """How many of the last frames are judged, as the authors' code has it."""
    condition: int = 5
    """How many frames the model goes on from, where so many are there: 1 or 5 for Cosmos. Without a gate likewise."""
    sigma: float | None = 0.3
    """Strength of the noise of D, in (0, 1); None = no D: what is not clean is rejected."""
    transitions: Transitions = "paper"
    """State machine: the paper's, or `keep`, in which the context is never reset."""
    usual: tuple[tuple[float, float], ...] = ()
    """Of the gate `witnesses`: between which low and high quantile clean frames lie by M, then by the errors of what is
    foretold 1, 2, ... frames ahead."""

    def __post_init__(self) -> None:
        at_least(1, condition=self.condition)
        at_least(self.condition, frames=self.frames)
        if self.sigma is not None and not 0.0 < self.sigma < 1.0:
            raise ValueError(f"sigma lies between 0 and 1, got {self.sigma}")
        if self.transitions == "reference":
            raise ValueError(
                "'reference' asks whether a frame fits the context, which M of a video does not: use 'paper'"
            )


@dataclass(frozen=True, eq=False)
class Gated:
    """What the gate made of a video."""

    context: Tensor
    """(n, H, W, 3) to go on from: the last `condition` frames, or fewer, if no more are there since the last reset."""
    window: Tensor
    """(N, H, W, 3): what stands in the place of each frame that was judged."""
    verdicts: tuple[Verdict, ...]
    """On each of them."""
    start: int
    """Where the first of them stands in the video."""

    @property
    def modes(self) -> list[Mode]:
        """GROUNDED: accepted; DENOISED: accepted denoised; PREDICTIVE: rejected; FALLBACK: the least bad of all."""
        return [Mode(verdict.mode) for verdict in self.verdicts]


@dataclass(frozen=True, eq=False)
class Seen:
    """A frame, observed or denoised, with its place in the video."""

    frame: Tensor  # (H, W, 3)
    index: int
    denoised: bool = False


def frame_score(model: Predictor, seen: Seen, seed: int) -> float:
    """M: mean squared error between a frame and the next one generated from it alone."""
    draws = draws_of("video/score", seed, seen.index, int(seen.denoised))
    return float((seen.frame - model.follow(seen.frame, 1, draws)[0]).square().mean())


def denoised(model: Predictor, seen: Seen, sigma: float, seed: int) -> Seen:
    """D of a frame."""
    draws = draws_of("video/denoise", seed, seen.index)
    return Seen(model.denoise(seen.frame, sigma, draws), seen.index, denoised=True)


def gate(clip: Pixels, model: Predictor, settings: Gating, seed: int) -> Gated:
    """Judge the last frames of a clip (T, H, W, 3), from the oldest on. A frame's scores depend on no other frame."""
    return walk(clip, model, settings, seed, lambda seen: frame_score(model, seen, seed))


def walk(
    clip: Pixels, model: Predictor, settings: Gating, seed: int, score: Callable[[Seen], float], name: str = "M"
) -> Gated:
    """Judge the last frames of a clip, from the oldest on, by a score and what to call it."""
    start, found = max(0, len(clip) - settings.frames), _Walk(model, settings, seed, len(clip), score, name)
    for index in range(start, len(clip)):
        found.step(Seen(unit(clip[index]), index))
    return found.gated(start)


class _Walk:
    """From frame to frame: the stage, the context, and what was predicted beyond it."""

    def __init__(
        self, model: Predictor, settings: Gating, seed: int, end: int, score: Callable[[Seen], float], name: str
    ) -> None:
        self.model, self.settings, self.seed, self.end, self.name = model, settings, seed, end, name
        repair = None if settings.sigma is None else partial(denoised, model, sigma=settings.sigma, seed=seed)
        tau = torch.tensor([settings.tau])
        exam = Exam[Seen](lambda seen, begin: (torch.tensor([score(seen)]), tau), repair, settings.tau_denoised)
        self.gate: Gate[Seen] = Gate(exam, settings.transitions, 1, torch.device("cpu"))
        self.context: deque[Tensor] = deque(maxlen=settings.condition)
        self.ahead: list[Tensor] = []
        self.places: list[Tensor | None] = []  # what stands for each frame; None = nothing to predict from yet
        self.passages: list[tuple[Passage[Seen], int]] = []  # with the frames since one was accepted
        self.least: tuple[float, int, Tensor] | None = None  # of all candidates: how far beyond tau, which frame, what

    def step(self, seen: Seen) -> None:
        """Judge one frame."""
        passage = self.gate.judge(seen, BEGIN, USABLE)
        self._remember_least(seen, passage)
        blind = 0 if passage.accepted else (self.passages[-1][1] if self.passages else 0) + 1
        self.passages.append((passage, blind))
        self.places.append(self._take(seen, passage))

    def gated(self, start: int) -> Gated:
        """What it came to; if no frame was accepted at all, the least bad candidate is gone on from."""
        fallen = None if self.context else self._fall_back(start)
        told = zip(self.passages, self.places, strict=True)
        verdicts = [self._verdict(passage, blind, place is not None) for (passage, blind), place in told]
        if fallen is not None:
            verdicts[fallen] = least_bad(verdicts[fallen])
        first = next(place for place in self.places if place is not None)
        window = torch.stack([first if place is None else place for place in self.places])  # (N, H, W, 3)
        return Gated(torch.stack(list(self.context)), window, tuple(verdicts), start)

    def _fall_back(self, start: int) -> int:
        """Go on from the least bad candidate to the end of the window; its place there."""
        assert self.least is not None
        _, index, frame = self.least
        later = self.end - 1 - index
        draws = draws_of("video/predict", self.seed, index + 1)
        ahead = list(self.model.rollout(frame[None], later, draws)) if later else []
        self.places[index - start :] = [frame, *ahead]
        self.context.extend([frame, *ahead])
        return index - start

    def _verdict(self, passage: Passage[Seen], blind: int, stands: bool) -> Verdict:
        return verdict_on(passage, self.settings.tau, self.settings.tau_denoised, blind, stands, self.name)

    def _take(self, seen: Seen, passage: Passage[Seen]) -> Tensor | None:
        """The frame that joins the context, if there is one."""
        if bool(passage.accepted):
            chosen = passage.repaired if bool(passage.denoised) else seen
            assert chosen is not None
            self.ahead = []
            if bool(passage.reset):
                self.context.clear()
            self.context.append(chosen.frame)
            return chosen.frame
        if not self.context:
            return None
        if not self.ahead:  # one generation for all frames that may be rejected in a row
            draws = draws_of("video/predict", self.seed, seen.index)
            frames = torch.stack(list(self.context))  # (n, H, W, 3)
            self.ahead = list(self.model.rollout(frames, self.end - seen.index, draws))
        self.context.append(self.ahead.pop(0))
        return self.context[-1]

    def _remember_least(self, seen: Seen, passage: Passage[Seen]) -> None:
        pairs = [(passage.scores["score"], self.settings.tau, seen)]
        if passage.repaired is not None:
            pairs.append((passage.scores["denoised"], self.settings.tau_denoised, passage.repaired))
        for score, tau, candidate in pairs:
            beyond = float(score) / tau if tau > 0 else float("inf")
            if self.least is None or beyond < self.least[0]:
                self.least = beyond, candidate.index, candidate.frame


def ungated(clip: Pixels, condition: int) -> Tensor:
    """What a model goes on from without a gate: the last frames as they are, (condition, H, W, 3) or fewer."""
    return unit(clip[-condition:])
