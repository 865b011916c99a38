"""The guard: health, a judge and mode, composed around a world model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from wiser.guard.actions import to_environment, to_model
from wiser.guard.blindness import HORIZON, BlindLimit, blind_steps
from wiser.guard.calibration import Calibration, beside
from wiser.guard.draws import RowDraws
from wiser.guard.health import Health, HealthMonitor, Readings, warn_if_misshapen
from wiser.guard.judges import AUTO, Evidence, Judge, Ruling, find_judge
from wiser.guard.judges.judge import Diagnosis, prior_where
from wiser.guard.look import Look
from wiser.guard.verdict import Level, Mode, Verdict
from wiser.worldmodel.latents import all_finite, one_hot_mode, one_hot_sample
from wiser.worldmodel.protocol import Belief, Prior, WorldModel


class Guard:
    """Acts for a world-model agent and decides at every step which sensors to believe.

    >>> guard = Guard(wiser.load("four-lane/dropout"))
    >>> action, verdict = guard.act(observation)

    One guard follows one environment (`rows=None`, unbatched observations) or `rows` of them in lockstep. It never
    raises on a bad observation: it masks what it cannot use and says why in the verdict.

    It remembers: what it believes rests on all observations of the episode so far. Tell it where another one begins,
    with `guard.reset()` after `env.reset()`, or with `guard.act(observation, first=...)`, which in a batch says of
    each row whether its observation is the first. Otherwise it takes the jump into the new episode for a surprise.
    """

    def __init__(
        self,
        model: WorldModel,
        judge: str | Judge = AUTO,
        *,
        rows: int | None = None,
        health: Health | None = None,
        calibration: Calibration | None = None,
        blind_limit: BlindLimit = HORIZON,
        fallback: Callable[[Verdict], Any] | None = None,
        sample_latents: bool = True,
        sample_actions: bool = False,
        seed: int = 0,
    ) -> None:
        """Wrap `model`.

        judge: how to trust, a name from `JUDGES` (none, greedy, exhaustive, calibrated, witnesses, random: which of
            several sensors; reject, predict: the readings as a whole) or an object, such as
            `Chain(Greedy(), Rejection())`. `auto` is the best there is a calibration for; `guard.judge` is what it came
            to.
        health: which checks run before the model looks.
        calibration: clean statistics; by default those beside the model's weights, where they are needed.
        blind_limit: steps without a trusted sensor after which the mode is FALLBACK; by default the blind horizon that
            was measured by the calibration, if any. None = never.
        fallback: called with a row's verdict in FALLBACK, returns the action to take instead.
        sample_latents: carry latents drawn from the posterior, as in training; modes can get an agent stuck.
        sample_actions: draw actions too, instead of taking the most likely one.
        seed: of those draws; row i draws from `seed + i`.
        """
        if rows is not None and rows < 1:
            raise ValueError(f"a guard follows at least 1 row, got rows={rows}; None is one unbatched environment")
        self.model, self.sample_latents, self.sample_actions = model, sample_latents, sample_actions
        self.batched, self.rows = rows is not None, 1 if rows is None else rows
        self.sensor_names = tuple(sensor.name for sensor in model.sensors)
        self._belief = model.initial(self.rows)
        self.device = self._belief.deter.device
        self.draws = RowDraws(seed, self.rows)
        self.monitor = HealthMonitor(model.sensors, self.rows, health or Health(), self.device)
        self.judge, calibration = find_judge(judge, model, calibration)
        self.sitting = self.judge.start(model, self.rows, calibration)
        if blind_limit == HORIZON and fallback is not None and calibration is None:
            calibration = beside(model.folder, model.digest)
        self.blind_limit, self.fallback = blind_steps(blind_limit, calibration), fallback
        self._action = self._belief.deter.new_zeros(self.rows, model.actions.size)
        self._blind = torch.zeros(self.rows, dtype=torch.long, device=self.device)
        self._first = torch.ones(self.rows, dtype=torch.bool, device=self.device)
        self._torch = False  # whether the caller speaks torch, as far as seen
        self.evidence: Evidence | None = None  # of the last step: for calibration and for people who watch

    @property
    def belief(self) -> Belief:
        """Return the belief after the last step, deter (B, D) and one-hot stoch (B, S, C)."""
        return self._belief

    def reset(self, rows: Any = None) -> None:
        """Begin a new episode at the next `act`: in all rows, or where `rows`, a bool or (B,) of them, is true."""
        self._first = self._first | self._flags(True if rows is None else rows)

    @torch.no_grad()
    def act(self, obs: Any, first: Any = None, ages: Mapping[str, Any] | None = None) -> tuple[Any, Verdict]:
        """Look at an observation, decide what to trust, and act.

        obs: {sensor: reading}, numpy or torch; stacked over rows, or a list with one such mapping per row.
        first: rows whose observation begins an episode (a bool, or (B,)); `reset()` does the same.
        ages: how old each sensor's reading is, if known.
        """
        if first is not None:
            self.reset(first)
        begin = self._first
        readings = self.monitor.examine(obs if self.batched else [obs], begin, ages)
        if self.evidence is None:
            warn_if_misshapen(readings, self.rows if self.batched else None)
        prior, restarted = self._predict(begin)
        look = Look(self.model, prior, readings.obs, self.model.embed(readings.obs), readings.healthy)
        self.evidence = Evidence(look, begin, self._action, self.draws)
        ruling = _finite(self.sitting.rule(self.evidence), prior)

        self._belief = Belief(ruling.prior.deter, self._latent(ruling.logprobs))
        self._blind = torch.where(ruling.trusted.any(1), 0, torch.where(begin, 0, self._blind) + 1)
        self._action = self.model.act(
            self._belief, self._noise(self.model.actions.size) if self.sample_actions else None
        )
        level, delay = _diagnose(readings, ruling)
        verdict = Verdict(
            sensors=self.sensor_names,
            mode=self._mode(ruling),
            trusted=ruling.trusted,
            healthy=readings.healthy,
            level=level,
            delay=delay,
            reasons=_explain(self.sensor_names, readings.reasons, ruling, level),
            surprise=ruling.surprise,
            scores=ruling.scores,
            blind_steps=self._blind,
            reset=ruling.reset | restarted,
        )
        self._first = torch.zeros_like(begin)  # only now: a step that failed has not begun the episode
        return self._deliver(obs, verdict)

    def executed(self, action: Any) -> None:
        """Tell the guard that another action was taken than the one it chose, so that its predictions follow it."""
        values = _tensor(action, self.device)
        encoded = to_model(values if self.batched else values[None], self.model.actions)
        if len(encoded) != self.rows:
            raise ValueError(f"expected {self.rows} actions, got {len(encoded)}")
        self._action = encoded.to(self._action.dtype)

    def state(self) -> tuple[dict[str, Tensor], list[Any]]:
        """What the next step rests on: tensors by name, and where each row's random numbers stand, as plain values.

        What the judge and the check for frozen streams remember is not part of it.
        """
        tensors = {"deter": self._belief.deter, "stoch": self._belief.stoch, "action": self._action}
        return {**tensors, "blind": self._blind, "first": self._first}, self.draws.states

    def restore(self, tensors: Mapping[str, Tensor], draws: Sequence[Any]) -> None:
        """Go on from what `state` returned."""
        given = {name: value.to(self.device) for name, value in tensors.items()}
        self._belief = Belief(given["deter"], given["stoch"])
        self._action, self._blind, self._first = given["action"], given["blind"], given["first"].bool()
        self.draws.states = list(draws)

    def _predict(self, begin: Tensor) -> tuple[Prior, Tensor]:
        """Advance every row. One whose prediction is not finite starts anew: nothing can be carried on from it."""
        prior = self.model.predict(self._belief, self._action, begin)
        broken = ~all_finite(prior.deter, prior.logprobs)  # (B,)
        if bool(broken.any()):
            prior = self.model.predict(self._belief, self._action, begin | broken)
        return prior, broken

    def _mode(self, ruling: Ruling) -> Tensor:
        mode = torch.where(ruling.repaired, int(Mode.DENOISED), int(Mode.GROUNDED))
        mode = torch.where(ruling.trusted.any(1), mode, int(Mode.PREDICTIVE))
        if self.blind_limit is None:
            return mode
        return torch.where(self._blind > self.blind_limit, int(Mode.FALLBACK), mode)

    def _latent(self, logprobs: Tensor) -> Tensor:
        if not self.sample_latents:
            return one_hot_mode(logprobs)
        return one_hot_sample(logprobs, self._noise(logprobs.shape[1]))

    def _noise(self, count: int) -> Tensor:
        """Uniform numbers (B, count)."""
        return torch.as_tensor(self.draws.uniform(count), dtype=self._belief.deter.dtype, device=self.device)

    def _flags(self, rows: Any) -> Tensor:
        flags = _tensor(rows, self.device)
        if flags.dtype != torch.bool or flags.shape not in ((), (self.rows,)):
            raise ValueError(f"expected a bool or {self.rows} of them, one per row, got {rows!r}")
        return flags.expand(self.rows)

    def _deliver(self, obs: Any, verdict: Verdict) -> tuple[Any, Verdict]:
        """Answer in the caller's terms: environment actions, numpy or torch, one row or many."""
        self._torch = _speaks_torch(obs, self._torch)
        actions = to_environment(self._action, self.model.actions)
        lost = (verdict.mode == Mode.FALLBACK).nonzero().flatten().tolist()
        verdict = verdict if self._torch else _to_numpy(verdict)
        if self.fallback is not None:
            for row in lost:
                instead = _tensor(self.fallback(verdict.row(row)), self.device)[None]
                self._action[row] = to_model(instead, self.model.actions)[0]
                actions[row] = instead[0]
        answer = actions if self._torch else actions.cpu().numpy()
        return (answer, verdict) if self.batched else (answer[0], verdict.row(0))


def _finite(ruling: Ruling, prior: Prior) -> Ruling:
    """Where a judge's belief is not finite, predict instead."""
    finite = all_finite(ruling.prior.deter, ruling.logprobs)  # (B,)
    if bool(finite.all()):
        return ruling
    return ruling._replace(
        trusted=ruling.trusted & finite[:, None],
        prior=prior_where(finite, ruling.prior, prior),
        logprobs=torch.where(finite[:, None, None], ruling.logprobs, prior.logprobs),
        reset=ruling.reset & finite,
        why=lambda row, column: ruling.why(row, column) if finite[row] else "no finite posterior",
    )


def _diagnose(readings: Readings, ruling: Ruling) -> Diagnosis:
    """How each sensor is: by its health, else as the judge says; what is masked is at least a warning."""
    level = torch.where(ruling.trusted, int(Level.OK), int(Level.WARN))
    delay = torch.zeros_like(level)
    if ruling.diagnosis is not None:
        level, delay = torch.maximum(level, ruling.diagnosis.level), ruling.diagnosis.delay
    unhealthy = torch.where(readings.stale, int(Level.STALE), int(Level.ERROR))
    return Diagnosis(torch.where(readings.healthy, level, unhealthy), torch.where(readings.healthy, delay, 0))


def _explain(
    names: tuple[str, ...], unhealthy: list[dict[str, str]], ruling: Ruling, level: Tensor
) -> list[dict[str, str]]:
    """Add what is wrong with healthy sensors to the reasons of the health layer."""
    wrong = ~ruling.trusted | (level != Level.OK)
    if bool(wrong.any()):
        for row, column in wrong.nonzero().tolist():
            if names[column] not in unhealthy[row]:
                used = ", of use all the same" if ruling.trusted[row, column] else ""
                unhealthy[row][names[column]] = ruling.why(row, column) + used
    return unhealthy


def _speaks_torch(obs: Any, so_far: bool) -> bool:
    """Whether an observation is made of torch tensors; one without any readings changes nothing."""
    rows = [obs] if isinstance(obs, Mapping) else obs if isinstance(obs, Sequence) else []
    try:
        values = [value for row in rows if isinstance(row, Mapping) for value in row.values()]
    except Exception:  # a hostile mapping: the health layer has masked it already
        return so_far
    if any(isinstance(value, Tensor) for value in values):
        return True
    return so_far and not any(isinstance(value, np.ndarray) for value in values)


def _tensor(value: Any, device: torch.device) -> Tensor:
    return value.detach().to(device) if isinstance(value, Tensor) else torch.as_tensor(np.asarray(value), device=device)


def _to_numpy(verdict: Verdict) -> Verdict:
    return replace(
        verdict,
        mode=verdict.mode.cpu().numpy(),
        trusted=verdict.trusted.cpu().numpy(),
        healthy=verdict.healthy.cpu().numpy(),
        level=verdict.level.cpu().numpy(),
        delay=verdict.delay.cpu().numpy(),
        surprise=verdict.surprise.cpu().numpy(),
        scores={name: value.cpu().numpy() for name, value in verdict.scores.items()},
        blind_steps=verdict.blind_steps.cpu().numpy(),
        reset=verdict.reset.cpu().numpy(),
    )
