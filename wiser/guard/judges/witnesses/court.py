"""Witnesses at work: what speaks against each sensor, which ones to use all the same, and what to believe."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.judges.candidates import required_columns
from wiser.guard.judges.judge import Diagnosis, Evidence, Ruling, prior_where
from wiser.guard.judges.witnesses.bank import Bank, Testimony
from wiser.guard.judges.witnesses.norms import Norms, Suspicion, median_agreement
from wiser.guard.judges.witnesses.streams import Compared
from wiser.guard.judges.witnesses.usual import Usual, accumulate, remember
from wiser.guard.look import Look
from wiser.guard.verdict import Level
from wiser.worldmodel.latents import kl_categorical
from wiser.worldmodel.protocol import Prior, WorldModel

if TYPE_CHECKING:
    from wiser.guard.judges.witnesses.judge import Witnesses

CREDIBLE = 5.0
"""Nats against a sensor, by its own witness, up to which it can convict others."""
_FAILING = 5  # steps under suspicion, the present one among them, from which on it is not just some bad frames
_REMEMBERED = 12.0  # nats that evidence adds up to at most: a sensor that is sound again must be able to show it


class Sentence(NamedTuple):
    """What becomes of the sensors of each row, (B, N) each."""

    clear: Tensor  # bool: what others are measured by
    trusted: Tensor  # bool: what is used
    stale: Tensor  # bool: what shows the past
    diagnosis: Diagnosis


class Court:
    """Hears the witnesses of every row."""

    def __init__(self, judge: Witnesses, model: WorldModel, rows: int, calibration: Calibration) -> None:
        self.judge, self.model = judge, model
        self.bank, self.streams = Bank(model, rows), judge.compare(model, rows)
        self.required = required_columns(judge.required, model)
        device, names = self.required.device, [sensor.name for sensor in model.sensors]
        self.norms = Norms(calibration, names, device)
        self.same = median_agreement(calibration, names, device)  # (N, N)
        self.surprise = [Usual(calibration, ["surprise"], device, begin) for begin in (False, True)]
        self.rare = -math.log(judge.false_alarms / 1000)
        self.limits = self.norms.alarm.score(self.rare)  # (N,)
        self.most = self.norms.total.score(_REMEMBERED)  # (N,)
        self.total, self.alarm, self.held = torch.zeros(3, rows, len(names), device=device)  # (B, N) each

    def rule(self, evidence: Evidence) -> Ruling:
        """Trust the sensors that nothing speaks against, and those that are of use all the same."""
        look, healthy = evidence.look, evidence.healthy
        told = self.bank.hear(evidence)
        against, compared = self._weigh(told, evidence.begin)
        suspicion = self.alarm / self.limits  # (B, N)
        suspect = healthy & (suspicion > 1.0)
        if bool(suspect.any()):
            self.held = torch.where(suspect & ~evidence.begin[:, None], self.held + 1, 0.0)
            sentence = self._sentence(healthy, suspect, suspicion, against, compared)
        else:
            self.held = torch.zeros_like(self.held)
            fine = torch.zeros_like(suspect, dtype=torch.long)
            sentence = Sentence(healthy, healthy, suspect, Diagnosis(fine + int(Level.OK), fine))
        prior, logprobs, nats, rescued = self._believe(look, told, sentence, evidence.begin)
        blind, never = ~sentence.trusted.any(1), torch.zeros_like(evidence.begin)
        return Ruling(
            trusted=sentence.trusted,
            prior=prior,
            logprobs=logprobs,
            surprise=torch.where(blind, torch.nan, nats),
            reset=rescued if self.judge.rescue == "reset" else never,
            repaired=never,
            scores={"own_surprise": told.nats, "suspicion": suspicion},
            why=lambda row, column: _reason(sentence.diagnosis, row, column),
            diagnosis=sentence.diagnosis,
        )

    def _weigh(self, told: Testimony, begin: Tensor) -> tuple[Suspicion, Compared]:
        """What speaks against each sensor; takes the step into memory."""
        fresh, nothing = begin[:, None], torch.zeros_like(self.total)
        now = self.norms.now(told.nats, begin)
        self.total = torch.minimum(
            accumulate(torch.where(fresh, 0.0, self.total), now, self.norms.reference), self.most
        )
        lasting = self.norms.total.nats(self.total) if self.judge.lasting else nothing
        credible = torch.maximum(now, lasting) <= CREDIBLE
        compared = self.streams.compare(told.shown, told.groups, begin, credible, self.held)
        late, still = self.norms.stale(compared) if self.judge.streams else (nothing, nothing)
        against = Suspicion(now, lasting, late, still)
        self.alarm = remember(torch.where(fresh, 0.0, self.alarm), against.worst, self.judge.recover)
        return against, compared

    def _sentence(
        self, healthy: Tensor, suspect: Tensor, suspicion: Tensor, against: Suspicion, compared: Compared
    ) -> Sentence:
        """Where some sensors (B, N) are under suspicion: which ones to use all the same."""
        stale = suspect & (against.stale > self.judge.recover * self.limits)
        clear = healthy & ~suspect
        usable = torch.where(healthy & ~stale, suspicion, torch.inf)
        last_resort = self._least_suspicious(usable, against.now) & ~clear.any(1, keepdim=True)
        trusted = clear | last_resort | self._useful(suspect, stale, clear, compared) | (healthy & self.required)
        return Sentence(clear | last_resort, trusted, stale, self._diagnose(suspect, stale, against, compared))

    def _least_suspicious(self, suspicion: Tensor, now: Tensor) -> Tensor:
        """Of several sensors (B, N) the one to use if all are suspected; a single one is believed or not.

        One that shows the past is worse than none, as one is that is not healthy: its suspicion is infinite.
        """
        several, usable = suspicion.shape[1] > 1, torch.isfinite(suspicion) & (now <= self.limits)
        return (suspicion <= suspicion.amin(1, keepdim=True)) & usable & several

    def _useful(self, suspect: Tensor, stale: Tensor, clear: Tensor, compared: Compared) -> Tensor:
        """Suspected sensors (B, N) that show the present, and enough of what the clear ones show."""
        if self.judge.useful is None:
            return torch.zeros_like(suspect)
        others = clear[:, None] & self.streams.others  # (B, N, N)
        common = (compared.agreement * others).sum(2) / (self.same * others).sum(2).clamp(min=1e-6)
        return suspect & ~stale & (common >= self.judge.useful) & (self.held > self.judge.parole)

    def _believe(
        self, look: Look, told: Testimony, sentence: Sentence, begin: Tensor
    ) -> tuple[Prior, Tensor, Tensor, Tensor]:
        """Prior, posterior and surprise of the belief to go on from, and where it is not the shared one.

        Only where stale sensors may have captured it: noise in a suspect that is used surprises a sound belief too.
        """
        trusted, captured = sentence.trusted, sentence.stale.any(1)
        logprobs = self.model.infer(look.prior, look.features, trusted[:, None])[:, 0]
        logprobs = torch.where(trusted.any(1)[:, None, None], logprobs, look.prior.logprobs)
        nats = kl_categorical(logprobs, look.prior.logprobs)  # (B,)
        astray = captured & self._unusual(nats, begin) if bool(captured.any()) else captured
        if self.judge.rescue == "keep" or not bool(astray.any()):
            return look.prior, logprobs, nats, torch.zeros_like(astray)
        prior, allowed = self._others(told, sentence.clear)
        masks = trusted[:, None].expand(-1, allowed.shape[1], -1)  # (B, K, N)
        others = self.model.infer(prior, look.features, masks)  # (B, K, S, C)
        cost, best = kl_categorical(others, prior.logprobs).masked_fill(~allowed, torch.inf).min(1)  # (B,)
        limit = nats if self.judge.rescue == "witness" else torch.inf  # nothing is expected of a reset
        taken, row = astray & (cost < limit), torch.arange(len(best), device=best.device)
        prior = prior_where(taken, Prior(prior.deter[row, best], prior.logprobs[row, best]), look.prior)
        logprobs = torch.where(taken[:, None, None], others[row, best], logprobs)
        return prior, logprobs, torch.where(taken, cost, nats), taken

    def _unusual(self, nats: Tensor, begin: Tensor) -> Tensor:
        """Whether the surprise of the belief that is shared (B,) is rare; that of first frames has norms of its own."""
        unusual = self.surprise[0].nats(nats[:, None])[:, 0] > self.rare
        if bool(begin.any()):
            unusual = torch.where(begin, self.surprise[1].nats(nats[:, None])[:, 0] > self.rare, unusual)
        return unusual

    def _others(self, told: Testimony, clear: Tensor) -> tuple[Prior, Tensor]:
        """Beliefs that may replace the shared one, (B, K, ...), and which of them may, (B, K)."""
        if self.judge.rescue == "witness":
            return told.prior, clear
        start, rows = self.bank.start, len(clear)
        nothing = Prior(start.deter.expand(rows, 1, -1), start.logprobs.expand(rows, 1, -1, -1))
        return nothing, clear.any(1, keepdim=True)

    def _diagnose(self, suspect: Tensor, stale: Tensor, against: Suspicion, compared: Compared) -> Diagnosis:
        """What kind of evidence keeps each suspected sensor (B, N) under suspicion."""
        enough = self.judge.recover * self.limits
        failing = (against.lasting > enough) & (self.held >= _FAILING)
        level = torch.where(failing, int(Level.ERROR), int(Level.WARN))
        level = torch.where(suspect, level, int(Level.OK))
        level = torch.where(stale, int(Level.STALE), level)
        late = (level == Level.STALE) & (against.late >= against.still)
        return Diagnosis(level, torch.where(late, compared.delay, 0))


def _reason(diagnosis: Diagnosis, row: int, column: int) -> str:
    level, delay = diagnosis.level[row, column], int(diagnosis.delay[row, column])
    if level == Level.STALE:
        return f"shows what others showed {delay} steps ago" if delay else "does not change as others do"
    if level == Level.ERROR:
        return "has not followed from what it showed before for some time"
    return "does not follow from what it showed before"
