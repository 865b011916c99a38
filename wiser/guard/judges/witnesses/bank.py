"""Beliefs of single sensors: each a filter of its own, which no other sensor can lead astray."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from wiser.guard.draws import RowDraws
from wiser.guard.judges.judge import Evidence
from wiser.worldmodel.latents import all_finite, kl_categorical, one_hot_sample
from wiser.worldmodel.protocol import Belief, Prior, WorldModel


class Testimony(NamedTuple):
    """What the witnesses of each row say about a step."""

    prior: Prior  # deter (B, N, D), logprobs (B, N, S, C): what each expected
    logprobs: Tensor  # (B, N, S, C): what it then held to be true
    nats: Tensor  # (B, N): its own surprise, KL between the two; 0 where its sensor is unhealthy
    shown: Tensor  # (B, N, S * C): probabilities by its sensor's reading alone, from no context at all

    @property
    def groups(self) -> int:
        """How many latents there are."""
        return self.logprobs.shape[2]


class Bank:
    """One witness per sensor: advanced by the actions really taken, grounded by its own sensor and nothing else."""

    def __init__(self, model: WorldModel, rows: int) -> None:
        self.model, self.rows, self.count = model, rows, len(model.sensors)
        self.belief = model.initial(rows * self.count)  # (B * N, ...)
        self.twice_alone = torch.eye(self.count, dtype=torch.bool, device=self.belief.deter.device).repeat(
            2, 1
        )  # (2 N, N)
        self.draws: RowDraws | None = None
        one = model.initial(1)
        self.start = model.predict(
            one, one.deter.new_zeros(1, model.actions.size), torch.ones(1, dtype=torch.bool, device=one.deter.device)
        )

    def hear(self, evidence: Evidence) -> Testimony:
        """Let every witness look at its sensor."""
        rows, count, look = self.rows, self.count, evidence.look
        prior = self._predict(evidence)
        both = Prior(
            torch.cat([prior.deter, self.start.deter.expand(rows, count, -1)], 1),  # (B, 2 N, D)
            torch.cat([prior.logprobs, self.start.logprobs.expand(rows, count, -1, -1)], 1),
        )
        seen = self.model.infer(both, look.features, self.twice_alone.expand(rows, -1, -1))  # (B, 2 N, S, C)
        own, shown = seen[:, :count], seen[:, count:].exp().flatten(2)
        good = evidence.healthy & all_finite(own, start=2)  # (B, N)
        own = torch.where(good[..., None, None], own, prior.logprobs)
        self.belief = Belief(prior.deter.flatten(0, 1), one_hot_sample(own, self._noise(evidence)).flatten(0, 1))
        return Testimony(prior, own, kl_categorical(own, prior.logprobs), torch.nan_to_num(shown))

    def _predict(self, evidence: Evidence) -> Prior:
        action, begin = (self._for_each(x) for x in (evidence.action, evidence.begin))
        prior = self.model.predict(self.belief, action, begin)
        lost = ~all_finite(prior.deter, prior.logprobs)  # (B * N,)
        if bool(lost.any()):
            prior = self.model.predict(self.belief, action, begin | lost)
        shape = (self.rows, self.count)
        return Prior(prior.deter.unflatten(0, shape), prior.logprobs.unflatten(0, shape))

    def _for_each(self, x: Tensor) -> Tensor:
        """(B, ...) -> (B * N, ...)."""
        return x[:, None].expand(-1, self.count, *x.shape[1:]).flatten(0, 1)

    def _noise(self, evidence: Evidence) -> Tensor:
        """(B, N, S), of a stream of its own: the guard draws the same numbers with and without witnesses."""
        if self.draws is None:
            self.draws = evidence.draws.apart("witnesses")
        latents = evidence.look.prior.logprobs.shape[1]
        noise = self.draws.uniform(self.count * latents).reshape(self.rows, self.count, latents)
        like = evidence.look.prior.deter
        return torch.as_tensor(noise, dtype=like.dtype, device=like.device)
