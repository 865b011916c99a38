"""Running the world model over sequences: everything that is not recurrent is computed for all steps at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.model import begin_afresh
from wiser.worldmodel.latents import one_hot_sample
from wiser.worldmodel.protocol import Belief


class Sequences(NamedTuple):
    """A batch of experience; at each step the observation, and the action and signals that led to it."""

    obs: Mapping[str, Tensor]  # each (B, T, *shape)
    signals: Mapping[str, Tensor]  # each (B, T): `reward`, and what else the objective asks for
    action: Tensor  # (B, T, A): the action before the observation
    first: Tensor  # (B, T) bool: the observation begins an episode
    proceed: Tensor  # (B, T): 0 where the episode ended for good, else 1

    def begin_afresh(self, some: Tensor) -> Sequences:
        """The same, but where `some` (B,) is set the sequence begins as an episode does: nothing came before."""
        first = self.first.clone()
        first[:, 0] |= some
        return self._replace(first=first)


class Seen(NamedTuple):
    """What the encoder is shown of them."""

    obs: Mapping[str, Tensor]  # each (B, T, *shape)
    masks: Tensor  # (B, T, N) bool: the sensors in use


class Unrolled(NamedTuple):
    """What the model made of them."""

    belief: Belief  # deter (B, T, D), stoch (B, T, S, C): straight-through samples
    posterior: Tensor  # (B, T, S, C) log-probabilities
    prior: Tensor  # (B, T, S, C) log-probabilities


class Observed(NamedTuple):
    """All that is known of a batch when the terms of the loss are worked out."""

    batch: Sequences
    seen: Seen
    unrolled: Unrolled
    features: Tensor  # (B, T, F): of the beliefs; here gradients do reach the world model
    starts: Belief  # (B, T, ...): what imagination starts from


def observe(
    model: DreamerV3, batch: Sequences, masks: Tensor, generator: torch.Generator, start: Belief | None = None
) -> Unrolled:
    """Filter sequences with sensors `masks` (B, T, N) in use, from `start` (B rows) or the initial belief."""
    rows, steps = batch.first.shape
    features = model.embed({name: x.flatten(0, 1) for name, x in batch.obs.items()})
    sensors = model.fusion.first_layer(features, masks.flatten(0, 1)[:, None])  # (B * T, 1, H)
    sensors = sensors.view(rows, steps, 1, -1)
    noise = torch.rand((steps, rows, model.config.stoch), generator=generator, device=generator.device)
    belief = start or model.initial(rows)
    deters, stochs, posteriors = [], [], []
    for t in range(steps):
        deter = model.gru(*begin_afresh(belief, batch.action[:, t], batch.first[:, t]))
        logprobs = model.posterior(deter, sensors[:, t])[:, 0]  # (B, S, C)
        belief = Belief(deter, straight_through(logprobs, noise[t]))
        deters.append(deter)
        stochs.append(belief.stoch)
        posteriors.append(logprobs)
    deter = torch.stack(deters, 1)  # (B, T, D)
    return Unrolled(Belief(deter, torch.stack(stochs, 1)), torch.stack(posteriors, 1), model.prior(deter))


def straight_through(logprobs: Tensor, noise: Tensor) -> Tensor:
    """One-hot samples (..., C) whose gradient is that of the probabilities."""
    probs = logprobs.exp()
    return one_hot_sample(logprobs.detach(), noise) + probs - probs.detach()
