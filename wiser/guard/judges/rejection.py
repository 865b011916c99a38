"""Judge the readings as a whole: accept them, repair them, or reject them and predict. Every decision is per row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.denoisers import Denoiser, Repair, find_denoiser
from wiser.guard.gate import Exam, Gate, Measured
from wiser.guard.judges.judge import Evidence, Ruling, prior_where
from wiser.guard.learned import Learned
from wiser.guard.look import Look
from wiser.guard.scores import SCORES, Measure, Score, find_score, in_context_reconstruction
from wiser.guard.thresholds import Threshold
from wiser.guard.transitions import Source, Transitions, transition_table
from wiser.worldmodel.protocol import WorldModel

EITHER, BOTH = "either", ("reconstruction", "surprise")
CALIBRATED = "calibrated"


@dataclass(frozen=True)
class Rejection:
    """How to judge observations. Scores and denoisers go by name, or are callables on a `Look`."""

    score: str | Measure = "reconstruction"
    """M: maps a look to one number per row; higher is worse. `either` is ours: what is normal in itself or in context
    passes; the smaller of `reconstruction` and `surprise`, each as a share of its calibrated threshold. Of a model
    without a decoder it is the surprise alone."""
    denoiser: str | Repair | None = "posterior"
    """D: maps a look to repaired readings (images as floats in [0, 1]); None = reject what is not clean."""
    transitions: Transitions = "paper"
    """State machine of the paper's text, of its published code (`reference`), or without context resets (`keep`)."""
    k: float = 5.0
    """Standard deviations above the clean mean at which calibrated thresholds lie. They follow the sensors in use, and
    first frames of episodes have their own."""
    tau: float | Literal["calibrated"] | None = None
    """Threshold of M(x). None takes the one that the score brings along (`resnet18`: where the classes change), or else
    mean + k std from the calibration, as `calibrated` does in any case; of `either` it is 1."""
    tau_denoised: float | None = None
    """Threshold of M(D(x)); None = the same as `tau`."""
    tau_context: float | None = None
    """Threshold of the in-context reconstruction error; None = calibrated like M = reconstruction."""

    def __post_init__(self) -> None:
        transition_table(self.transitions)
        _ = self.tests, self.mending  # an unknown name is found now
        if isinstance(self.tau, str) and self.tau != CALIBRATED:
            raise ValueError(f"tau is a number, {CALIBRATED!r} or None, got {self.tau!r}")

    @property
    def needs(self) -> tuple[str, ...]:
        """The scores whose thresholds were not given."""
        return tuple(dict.fromkeys(test.name for test in self.criteria if test.tau is None))

    @property
    def tests(self) -> tuple[Criterion, ...]:
        """What M is made of: one score, or both of `either`."""
        if self.score == EITHER:
            return tuple(Criterion(name, SCORES[name]) for name in BOTH)
        if isinstance(self.score, str):
            score = find_score(self.score)
            return (Criterion(self.score, score, score.tau if self.tau is None else self.fixed),)
        name = getattr(self.score, "__name__", "score")
        return (Criterion(name, Score(self.score, alone=name), self.fixed),)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """All that readings can be tested by."""
        return (*self.tests, self.context) if self.context else self.tests

    @property
    def fixed(self) -> float | None:
        """The threshold as a number, if it was given."""
        return None if isinstance(self.tau, str) else self.tau

    @property
    def mending(self) -> Denoiser | None:
        """D, if there is one."""
        if self.denoiser is None:
            return None
        return find_denoiser(self.denoiser) if isinstance(self.denoiser, str) else Denoiser(self.denoiser)

    @property
    def context(self) -> Criterion | None:
        """What repaired readings must pass too, if the transitions ask for it; its threshold is calibrated as M's."""
        if self.transitions != "reference" or self.denoiser is None:
            return None
        same = self.fixed if self.score == "reconstruction" else None
        tau = self.tau_context if self.tau_context is not None else same
        return Criterion("reconstruction", Score(in_context_reconstruction, "reconstruction", decodes=True), tau)

    def files(self, model: WorldModel) -> tuple[Path, ...]:
        """Weights that decide along with the model's."""
        parts = [*(test.score.measure for test in self.tests), self.mending and self.mending.repair]
        return tuple(part.found(model) for part in parts if isinstance(part, Learned))

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> Rejector:
        """Find weights and thresholds; raises where one is neither given nor there, and without a decoder it needs."""
        if not model.decodes and (asked := self._decoding(model)):
            instead = "use the judge 'predict', or Rejection(score='surprise', denoiser=None)"
            raise ValueError(f"this model has no decoder, which {asked[0]} needs: {instead}")
        return Rejector(self, model, rows, calibration)

    def tests_of(self, model: WorldModel) -> tuple[Criterion, ...]:
        """What M is made of with this model: of `either` what it can give."""
        return tuple(test for test in self.tests if self.score != EITHER or test.score.possible(model))

    def _decoding(self, model: WorldModel) -> list[str]:
        """What of this rests on decoded readings."""
        asked = [f"score {test.name!r}" for test in self.tests_of(model) if test.score.decodes]
        asked += [f"denoiser {self.denoiser!r}"] if self.mending is not None and self.mending.decodes else []
        return asked + (["the context test of the reference transitions"] if self.context else [])


class Criterion(NamedTuple):
    """A score and where its threshold comes from."""

    name: str  # in the calibration
    score: Score
    tau: float | None = None  # None = calibrated

    def threshold(
        self, model: WorldModel, k: float, calibration: Calibration | None, device: torch.device
    ) -> Threshold:
        """Fixed as given, or calibrated."""
        if self.tau is not None:
            return Threshold.fixed(self.tau, device)
        if calibration is None:
            raise ValueError(
                f"rejection needs a threshold for {self.name!r}: pass tau=..., or a calibration "
                "(calibration.json beside the weights, written by `calibrate`)"
            )
        return Threshold.calibrated(calibration, self.name, self.score.singles(model.sensors), k, device)


class Rejector:
    """A gate for looks, and the belief that follows from what it says."""

    def __init__(self, settings: Rejection, model: WorldModel, rows: int, calibration: Calibration | None) -> None:
        device = model.initial(1).deter.device

        def threshold(test: Criterion) -> Threshold:
            return test.threshold(model, settings.k, calibration, device)

        self.tests = [(test.score.ready(model), threshold(test)) for test in settings.tests_of(model)]
        self.denoise = None if settings.mending is None else settings.mending.ready(model)
        self.tau_context = threshold(settings.context) if settings.context else None
        self.relative = settings.score == EITHER
        self.share = 1.0 if settings.fixed is None else settings.fixed  # of `either`
        exam = Exam(
            self._measure,
            self._repair if self.denoise else None,
            settings.tau_denoised,
            self._measure_context if self.tau_context else None,
        )
        self.gate = Gate(exam, settings.transitions, rows, device)

    @property
    def stage(self) -> Tensor:
        """(B,) values of `Stage`: how the last observation was dealt with."""
        return self.gate.stage

    def rule(self, evidence: Evidence) -> Ruling:
        """Advance every row by one observation."""
        look = evidence.look
        usable = look.mask.any(1) & torch.isfinite(look.surprise)  # (B,); the other rows can only predict
        passage = self.gate.judge(look, evidence.begin, usable)
        reset = passage.reset
        return Ruling(
            trusted=look.mask & passage.accepted[:, None],
            prior=prior_where(reset, look.reset_prior, look.prior) if bool(reset.any()) else look.prior,
            logprobs=_pick(look, passage.repaired, passage.source),
            surprise=torch.where(usable, look.surprise, torch.nan),
            reset=reset,
            repaired=passage.denoised,
            scores=passage.scores,
            why=lambda row, column: "observation rejected",
        )

    def _measure(self, look: Look, begin: Tensor) -> Measured:
        """M of readings and its threshold, (B,) each; of several tests the one that is passed most easily."""
        found = [(measure(look), tau.of(look.mask, begin)) for measure, tau in self.tests]
        if not self.relative:
            return found[0]
        share = torch.stack([score / tau for score, tau in found]).amin(0)
        return share, torch.full_like(share, self.share)

    def _repair(self, look: Look) -> Look:
        assert self.denoise is not None  # the gate asks only if it is there
        return look.at(self.denoise(look))

    def _measure_context(self, look: Look, begin: Tensor) -> Measured:
        assert self.tau_context is not None
        return in_context_reconstruction(look), self.tau_context.of(look.mask, begin)


def _pick(look: Look, repaired: Look | None, source: Tensor) -> Tensor:
    """Gather each row's belief (B, S, C) from the candidate its source names."""
    logprobs = look.prior.logprobs
    candidates = {Source.POSTERIOR: lambda: look.posterior, Source.POSTERIOR_RESET: lambda: look.reset_posterior}
    if repaired is not None:
        candidates[Source.DENOISED] = lambda: repaired.posterior
        candidates[Source.DENOISED_RESET] = lambda: repaired.reset_posterior
    for kind, candidate in candidates.items():
        chosen = source == int(kind)
        if bool(chosen.any()):
            logprobs = torch.where(chosen[:, None, None], candidate(), logprobs)
    return logprobs
