"""The guard: health, selection, rejection and mode, composed around a world model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from wiser.guard.actions import to_environment, to_model
from wiser.guard.calibration import Calibration, beside
from wiser.guard.draws import RowDraws
from wiser.guard.health import Health, HealthMonitor
from wiser.guard.look import Look
from wiser.guard.rejection import Rejection, Rejector
from wiser.guard.selection import Choice, Selection, Stateless, selection_by_name
from wiser.guard.transitions import Source
from wiser.guard.verdict import Mode, Verdict
from wiser.worldmodel.latents import one_hot_mode, one_hot_sample
from wiser.worldmodel.protocol import Belief, Prior, WorldModel


class Guard:
    """Acts for a world-model agent and decides at every step which sensors to believe.

    >>> guard = Guard(wiser.load("models/four-lane"))
    >>> action, verdict = guard.act(observation)

    One guard follows one environment (`rows=None`, unbatched observations) or `rows` of them in lockstep. It never
    raises on a bad observation: it masks what it cannot use and says why in the verdict.
    """

    def __init__(
        self,
        model: WorldModel,
        selection: str | Selection = "greedy",
        rejection: Rejection | None = None,
        *,
        rows: int | None = None,
        health: Health | None = None,
        calibration: Calibration | None = None,
        blind_limit: int | None = None,
        fallback: Callable[[Verdict], Any] | None = None,
        sample_latents: bool = True,
        sample_actions: bool = False,
        seed: int = 0,
    ) -> None:
        """Wrap `model`.

        selection: how to choose among several sensors: none, greedy, exhaustive, calibrated, random, or a `Selection`.
        rejection: also judge the chosen readings as a whole; needs a decoder and thresholds.
        health: which checks run before the model looks.
        calibration: clean statistics; by default those beside the model's weights, where they are needed.
        blind_limit: steps without a trusted sensor after which the mode is FALLBACK.
        fallback: called with a row's verdict in FALLBACK, returns the action to take instead.
        sample_latents: carry latents drawn from the posterior, as in training; modes can get an agent stuck.
        sample_actions: draw actions too, instead of taking the most likely one.
        seed: of those draws; row i draws from `seed + i`.
        """
        self.model, self.sample_latents, self.sample_actions = model, sample_latents, sample_actions
        self.blind_limit, self.fallback = blind_limit, fallback
        self.batched, self.rows = rows is not None, 1 if rows is None else rows
        self.sensor_names = tuple(sensor.name for sensor in model.sensors)
        self._belief = model.initial(self.rows)
        self.device = self._belief.deter.device
        self.draws = RowDraws(seed, self.rows)
        self.monitor = HealthMonitor(model.sensors, self.rows, health or Health(), self.device)
        chosen = selection_by_name(selection)
        if calibration is None and (rejection is not None or not isinstance(chosen, Stateless)):
            calibration = beside(model.folder, model.digest)
        self.selector = chosen.start(model, self.rows, calibration)
        self.rejector = None
        if rejection is not None:
            self.rejector = Rejector(rejection, model, calibration, self.rows, self.device)
        self._action = self._belief.deter.new_zeros(self.rows, model.actions.size)
        self._blind = torch.zeros(self.rows, dtype=torch.long, device=self.device)
        self._first = torch.ones(self.rows, dtype=torch.bool, device=self.device)
        self._torch = False  # whether the caller speaks torch, as far as seen
        self.look: Look | None = None  # what the last step saw: for calibration and for people who watch

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
        prior, restarted = self._predict(begin)
        self.look = look = Look(self.model, prior, readings.obs, self.model.embed(readings.obs), readings.healthy)
        choice = self.selector.select(look, readings.healthy, begin, self.draws)
        decision = self._decide(look, choice, begin)

        self._belief = Belief(decision.deter, self._latent(decision.logprobs))
        self._blind = torch.where(decision.trusted.any(1), 0, torch.where(begin, 0, self._blind) + 1)
        self._action = self.model.act(
            self._belief, self._noise(self.model.actions.size) if self.sample_actions else None
        )
        reset = (decision.source == Source.POSTERIOR_RESET) | (decision.source == Source.DENOISED_RESET)
        verdict = Verdict(
            sensors=self.sensor_names,
            mode=self._mode(decision),
            trusted=decision.trusted,
            healthy=readings.healthy,
            reasons=_explain(self.sensor_names, readings.reasons, decision),
            surprise=decision.surprise,
            scores=decision.scores,
            blind_steps=self._blind,
            reset=reset | restarted,
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

        What selection, rejection and the check for frozen streams remember is not part of it.
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
        broken = ~(torch.isfinite(prior.deter).all(1) & torch.isfinite(prior.logprobs).flatten(1).all(1))  # (B,)
        if bool(broken.any()):
            prior = self.model.predict(self._belief, self._action, begin | broken)
        return prior, broken

    def _decide(self, look: Look, choice: Choice, begin: Tensor) -> _Decision:
        """Combine selection and rejection into the belief of each row; rows nothing can be said about predict."""
        prior = look.prior
        seen = torch.isfinite(choice.surprise)  # (B,) rows where some subset could be inferred
        nats = torch.where(seen, choice.surprise, torch.nan)
        trusted = choice.mask & seen[:, None]  # (B, N)
        if self.rejector is None:
            source = torch.where(seen, int(Source.POSTERIOR), int(Source.PRIOR))
            logprobs = torch.where(seen[:, None, None], choice.logprobs, prior.logprobs)
            reason = [choice.reason if seen_row else "no finite posterior" for seen_row in seen.tolist()]
            return _Decision(prior.deter, logprobs, trusted, source, nats, choice.scores, reason)
        (deter, logprobs), source, scores = self.rejector.judge(look.trusting(trusted), begin)
        rejected = source == Source.PRIOR  # (B,)
        reason = ["observation rejected" if no else choice.reason for no in rejected.tolist()]
        return _Decision(
            deter, logprobs, trusted & ~rejected[:, None], source, nats, {**choice.scores, **scores}, reason
        )

    def _mode(self, decision: _Decision) -> Tensor:
        repaired = (decision.source == Source.DENOISED) | (decision.source == Source.DENOISED_RESET)
        mode = torch.where(repaired, int(Mode.DENOISED), int(Mode.GROUNDED))
        mode = torch.where(decision.trusted.any(1), mode, int(Mode.PREDICTIVE))
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


class _Decision(NamedTuple):
    """What a step's belief is made of."""

    deter: Tensor  # (B, D)
    logprobs: Tensor  # (B, S, C)
    trusted: Tensor  # (B, N)
    source: Tensor  # (B,) of `Source`
    surprise: Tensor  # (B,)
    scores: dict[str, Tensor]
    reason: list[str]  # per row: why a healthy sensor is not trusted


def _explain(names: tuple[str, ...], unhealthy: list[dict[str, str]], decision: _Decision) -> list[dict[str, str]]:
    """Add why healthy sensors are not trusted to the reasons of the health layer."""
    if bool(decision.trusted.all()):
        return unhealthy
    for row, trusted in enumerate(decision.trusted.tolist()):
        for name, good in zip(names, trusted, strict=True):
            if not good:
                unhealthy[row].setdefault(name, decision.reason[row])
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
        surprise=verdict.surprise.cpu().numpy(),
        scores={name: value.cpu().numpy() for name, value in verdict.scores.items()},
        blind_steps=verdict.blind_steps.cpu().numpy(),
        reset=verdict.reset.cpu().numpy(),
    )
