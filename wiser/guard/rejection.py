"""Layer 3 for one sensor: accept an observation, repair it, or reject it and predict. Every decision is per row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.look import Look, reconstruction_error, surprise
from wiser.guard.thresholds import Threshold
from wiser.guard.transitions import Source, Stage, Transitions, transition_table
from wiser.worldmodel.latents import one_hot_mode
from wiser.worldmodel.protocol import Belief, WorldModel, unit_image

Score = Callable[[Look], Tensor]
Denoiser = Callable[[Look], Mapping[str, Tensor]]


def context_free_reconstruction(look: Look) -> Tensor:
    """M of the paper: how badly the readings are rebuilt from themselves alone, h = h_0. (B,)."""
    return reconstruction_error(look, look.reset_belief)


def in_context_surprise(look: Look) -> Tensor:
    """Bayesian surprise of the readings. (B,)."""
    return surprise(look.posterior[:, None], look.prior)[:, 0]


def posterior_reconstruction(look: Look) -> Mapping[str, Tensor]:
    """D of the paper: the readings as the model sees them in context."""
    return {**look.obs, **look.model.decode(look.belief)}


def prior_interpolation(look: Look) -> Mapping[str, Tensor]:
    """D of the ablation: half way between what was expected and what was read."""
    expected = look.model.decode(Belief(look.prior.deter, one_hot_mode(look.prior.logprobs)))
    return {**look.obs, **{name: torch.lerp(unit_image(look.obs[name]), x, 0.5) for name, x in expected.items()}}


SCORES: dict[str, Score] = {"reconstruction": context_free_reconstruction, "surprise": in_context_surprise}
ALONE = {"reconstruction": "reconstruction", "surprise": "isolated_surprise"}
"""What a calibration calls these scores of single sensors."""
EITHER = "either"
DENOISERS: dict[str, Denoiser] = {"posterior": posterior_reconstruction, "interpolation": prior_interpolation}


@dataclass(frozen=True)
class Rejection:
    """How to judge observations. Scores and denoisers go by name, or are callables on a `Look`."""

    score: str | Score = "reconstruction"
    """M: maps a look to one number per row; higher is worse. `either` is ours: what is normal in itself or in context
    passes; the smaller of `reconstruction` and `surprise`, each as a share of its calibrated threshold."""
    denoiser: str | Denoiser | None = "posterior"
    """D: maps a look to repaired readings (images as floats in [0, 1]); None = reject what is not clean."""
    transitions: Transitions = "paper"
    """State machine of the paper's text, of its published code (`reference`), or without context resets (`keep`)."""
    k: float = 5.0
    """Standard deviations above the clean mean at which calibrated thresholds lie. They follow the sensors in use, and
    first frames of episodes have their own."""
    tau: float | None = None
    """Threshold of M(x); None takes mean + k std from the calibration, and 1 for `either`."""
    tau_denoised: float | None = None
    """Threshold of M(D(x)); None = the same as `tau`."""
    tau_context: float | None = None
    """Threshold of the in-context reconstruction error; None = calibrated like M = reconstruction."""

    def __post_init__(self) -> None:
        transition_table(self.transitions)
        for kind, choice, known in (("score", self.score, (*SCORES, EITHER)), ("denoiser", self.denoiser, DENOISERS)):
            if isinstance(choice, str) and choice not in known:
                raise ValueError(f"unknown {kind} {choice!r}; choose from {', '.join(known)} or pass a callable")


class Outcome(NamedTuple):
    """What rejection decided."""

    belief: Belief  # deter (B, D) and log-probabilities instead of one-hots, (B, S, C)
    source: Tensor  # (B,) of `Source`
    scores: dict[str, Tensor]  # (B,) each


class Rejector:
    """Carries the stage of each row."""

    def __init__(
        self, settings: Rejection, model: WorldModel, calibration: Calibration | None, rows: int, device: torch.device
    ) -> None:
        if not model.decodes and (settings.score in ("reconstruction", EITHER) or settings.denoiser in DENOISERS):
            raise ValueError("this model has no decoder: use Rejection(score='surprise', denoiser=None, ...)")
        self.denoise = DENOISERS[settings.denoiser] if isinstance(settings.denoiser, str) else settings.denoiser
        self.table = transition_table(settings.transitions).to(device)
        self.stage = torch.zeros(rows, dtype=torch.long, device=device)

        def threshold(name: str, given: float | None) -> Threshold:
            return _threshold(name, given, settings.k, model, calibration, device)

        self.tests = _tests(settings, threshold)
        self.share = 1.0 if settings.tau is None else settings.tau  # of `either`
        self.tau_denoised = settings.tau_denoised
        self.needs_context = settings.transitions == "reference" and self.denoise is not None
        if self.needs_context:
            same = settings.tau if settings.score == "reconstruction" else None
            given = settings.tau_context if settings.tau_context is not None else same
            self.tau_context = threshold("reconstruction", given)

    def judge(self, look: Look, first: Tensor) -> Outcome:
        """Advance every row by one observation. Rows with `first` (B,) start in stage 0."""
        stage = torch.where(first, int(Stage.CLEAN), self.stage)
        usable = look.mask.any(1)  # a row without healthy sensors can only predict
        score, tau = self._measure(look, first)
        unmeasured = torch.full_like(score, torch.nan)
        scores = {"score": score, "denoised": unmeasured, "context": unmeasured}
        c1 = (score < tau) & usable
        repaired = None
        if self.denoise is not None and not bool(c1.all()):
            repaired = look.at(self.denoise(look))
            scores["denoised"] = torch.where(c1, torch.nan, self._measure(repaired, first)[0])
            if self.needs_context:
                scores["context"] = torch.where(c1, torch.nan, reconstruction_error(repaired, repaired.belief))
        c2 = (scores["denoised"] < (tau if self.tau_denoised is None else self.tau_denoised)) & usable
        c3 = torch.zeros_like(c2)
        if self.needs_context:
            c3 = scores["context"] < self.tau_context.of(look.mask, first)
        cell = self.table[stage, c1.long(), c2.long(), c3.long()]  # (B, 2)
        self.stage, source = cell[:, 0], cell[:, 1]
        return Outcome(_pick(look, repaired, source), source, scores)

    def _measure(self, look: Look, first: Tensor) -> tuple[Tensor, Tensor]:
        """M of readings and its threshold, (B,) each; of several tests the one that is passed most easily."""
        found = [(score(look), tau.of(look.mask, first)) for score, tau in self.tests]
        if len(found) == 1:
            return found[0]
        share = torch.stack([score / tau for score, tau in found]).amin(0)
        return share, torch.full_like(share, self.share)


def _tests(settings: Rejection, threshold: Callable[[str, float | None], Threshold]) -> list[tuple[Score, Threshold]]:
    """Scores and their thresholds: one, or both of `either`."""
    if settings.score == EITHER:
        return [(score, threshold(name, None)) for name, score in SCORES.items()]
    if isinstance(settings.score, str):
        return [(SCORES[settings.score], threshold(settings.score, settings.tau))]
    return [(settings.score, threshold(getattr(settings.score, "__name__", "score"), settings.tau))]


def _threshold(
    name: str, given: float | None, k: float, model: WorldModel, calibration: Calibration | None, device: torch.device
) -> Threshold:
    if given is not None:
        return Threshold.fixed(given, device)
    if calibration is None:
        raise ValueError(
            f"rejection needs a threshold for {name!r}: pass tau=..., or a calibration "
            "(calibration.json beside the weights, written by `calibrate`)"
        )
    return Threshold.calibrated(calibration, name, ALONE.get(name, name), model.sensors, k, device)


def _pick(look: Look, repaired: Look | None, source: Tensor) -> Belief:
    """Gather each row's belief from the candidate its source names."""
    deter, logprobs = look.prior.deter, look.prior.logprobs  # (B, D), (B, S, C)
    candidates = {Source.POSTERIOR: (look.prior.deter, lambda: look.posterior)}
    candidates[Source.POSTERIOR_RESET] = (look.reset_prior.deter, lambda: look.reset_posterior)
    if repaired is not None:
        candidates[Source.DENOISED] = (look.prior.deter, lambda: repaired.posterior)
        candidates[Source.DENOISED_RESET] = (look.reset_prior.deter, lambda: repaired.reset_posterior)
    for kind, (candidate_deter, candidate_logprobs) in candidates.items():
        chosen = source == int(kind)
        if bool(chosen.any()):
            deter = torch.where(chosen[:, None], candidate_deter, deter)
            logprobs = torch.where(chosen[:, None, None], candidate_logprobs(), logprobs)
    return Belief(deter, logprobs)
