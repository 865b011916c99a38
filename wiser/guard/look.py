"""Layer 2, surprise: what one step's readings say, seen through the model. Scores and denoisers are written on this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from wiser.worldmodel.latents import kl_categorical, one_hot_mode
from wiser.worldmodel.protocol import Belief, Prior, WorldModel, unit_image


@dataclass(frozen=True)
class Look:
    """Readings of one step, embedded once, and the prior they are compared with. Latents are modes, not samples."""

    model: WorldModel
    prior: Prior
    obs: Mapping[str, Tensor]  # each (B, *shape), finite
    features: Any
    mask: Tensor  # (B, N) bool: the sensors in use
    inferred: Tensor | None = None  # (B, S, C) their posterior, where it is known already

    def infer(self, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Posterior log-probabilities (B, K, S, C) and surprise (B, K) of candidate subsets (B, K, N)."""
        logprobs = self.model.infer(self.prior, self.features, masks)
        return logprobs, surprise(logprobs, self.prior)

    def trusting(self, mask: Tensor, inferred: Tensor | None = None) -> Look:
        """Return the same readings with another set of sensors in use, and their posterior if it is known."""
        return replace(self, mask=mask, inferred=inferred)

    def at(self, obs: Mapping[str, Tensor]) -> Look:
        """Look at other readings from the same prior."""
        return replace(self, obs=obs, features=self.model.embed(obs), inferred=None)

    @property
    def alone(self) -> Tensor:
        """Every sensor by itself, as masks (B, N, N)."""
        rows, sensors = self.mask.shape
        return torch.eye(sensors, dtype=torch.bool, device=self.mask.device).expand(rows, -1, -1)

    @cached_property
    def posterior(self) -> Tensor:
        """Log-probabilities (B, S, C) in context, from the sensors in use."""
        if self.inferred is not None:
            return self.inferred
        return self.model.infer(self.prior, self.features, self.mask[:, None])[:, 0]

    @cached_property
    def surprise(self) -> Tensor:
        """Bayesian surprise (B,) of the sensors in use."""
        return surprise(self.posterior[:, None], self.prior)[:, 0]

    @cached_property
    def belief(self) -> Belief:
        """Posterior belief in context."""
        return Belief(self.prior.deter, one_hot_mode(self.posterior))

    @cached_property
    def reset_prior(self) -> Prior:
        """Return the prior after a context reset: one recurrent step from the initial belief with a zero action."""
        rows = self.prior.deter.shape[0]
        first = torch.ones(1, dtype=torch.bool, device=self.mask.device)
        start = self.prior.deter.new_zeros(1, self.model.actions.size)
        prior = self.model.predict(self.model.initial(1), start, first)
        return Prior(prior.deter.expand(rows, -1), prior.logprobs.expand(rows, -1, -1))

    @cached_property
    def reset_posterior(self) -> Tensor:
        """Log-probabilities (B, S, C) after a context reset."""
        return self.model.infer(self.reset_prior, self.features, self.mask[:, None])[:, 0]

    @cached_property
    def reset_belief(self) -> Belief:
        """Belief from these readings alone, h = h_0."""
        return Belief(self.reset_prior.deter, one_hot_mode(self.reset_posterior))


def surprise(logprobs: Tensor, prior: Prior) -> Tensor:
    """Bayesian surprise KL[posterior || prior] in nats: (B, K, S, C) -> (B, K); never negative, +inf if undefined."""
    nats = kl_categorical(logprobs, prior.logprobs[:, None])
    return torch.where(torch.isnan(nats), torch.inf, nats)


def reconstruction_error(look: Look, belief: Belief) -> Tensor:
    """Mean absolute error (B,) of what the belief decodes to; each sensor in use counts alike. +inf without any.

    Images are compared in [0, 1], vectors on a symmetric logarithmic scale, whatever their units.
    """
    decoded = look.model.decode(belief)
    total = torch.zeros(look.mask.shape[0], device=look.mask.device)
    count = torch.zeros_like(total)
    for column, sensor in enumerate(look.model.sensors):
        if sensor.name in decoded:
            used = look.mask[:, column]  # (B,)
            scale = unit_image if sensor.is_image else _log_scale
            gap = scale(look.obs[sensor.name]) - scale(decoded[sensor.name])
            total = total + torch.where(used, gap.abs().reshape(len(gap), -1).mean(1), 0.0)
            count = count + used
    return torch.where(count > 0, total / count.clamp(min=1), torch.inf)


def _log_scale(x: Tensor) -> Tensor:
    return torch.sign(x) * torch.log1p(x.abs().clamp(max=1e30))
