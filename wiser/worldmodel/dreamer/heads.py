"""Heads on the belief: reward, continue, actor and critic."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wiser.worldmodel.dreamer.config import DreamerConfig
from wiser.worldmodel.dreamer.layers import MLP, linear
from wiser.worldmodel.dreamer.maths import twohot_bins, twohot_cross_entropy, twohot_mean
from wiser.worldmodel.latents import one_hot_mode, one_hot_sample, unimix_logprobs
from wiser.worldmodel.protocol import Belief

_MIN_STD, _MAX_STD = 0.1, 1.0


def feature_size(config: DreamerConfig) -> int:
    """Size of `features(belief)`."""
    return config.deter + config.stoch * config.classes


def features(belief: Belief) -> Tensor:
    """Belief as one vector, (B, D + S * C)."""
    return torch.cat([belief.deter, belief.stoch.flatten(-2)], -1)


class TwoHotHead(nn.Module):
    """A scalar as a distribution over exponentially spaced bins; predicts exactly 0 before training."""

    bins: Tensor

    def __init__(self, config: DreamerConfig, layers: int) -> None:
        super().__init__()
        self.layers = MLP(feature_size(config), config.units, layers)
        self.logits = linear(config.units, config.bins, scale=0.0)
        self.register_buffer("bins", twohot_bins(config.bins), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Features (..., F) -> logits (..., bins)."""
        return self.logits(self.layers(x))

    def mean(self, x: Tensor) -> Tensor:
        """Features (..., F) -> expected value (...)."""
        return twohot_mean(self(x), self.bins)

    def loss(self, x: Tensor, *targets: Tensor) -> Tensor:
        """Cross-entropy (...) with the sum of some targets (...), at features (..., F)."""
        logprobs = F.log_softmax(self(x), -1)
        return torch.stack([twohot_cross_entropy(logprobs, target, self.bins) for target in targets]).sum(0)


class ContinueHead(nn.Module):
    """Whether the episode goes on."""

    def __init__(self, config: DreamerConfig) -> None:
        super().__init__()
        self.layers = nn.Sequential(MLP(feature_size(config), config.units, 1), linear(config.units, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Features (..., F) -> logit (...)."""
        return self.layers(x)[..., 0]


class Normal(NamedTuple):
    """A diagonal normal over actions."""

    mean: Tensor  # (..., A) in [-1, 1]
    std: Tensor  # (..., A)


class Actor(nn.Module):
    """The policy: categorical with a share of uniform, or a normal with bounded mean and spread."""

    def __init__(self, config: DreamerConfig) -> None:
        super().__init__()
        self.discrete = config.actions.discrete
        self.unimix = config.unimix
        self.layers = MLP(feature_size(config), config.units, 3)
        self.out = linear(config.units, config.actions.size * (1 if self.discrete else 2), scale=0.01)

    def logprobs(self, x: Tensor) -> Tensor:
        """Discrete: features (..., F) -> log-probabilities (..., A)."""
        return unimix_logprobs(self.out(self.layers(x)), self.unimix)

    def normal(self, x: Tensor) -> Normal:
        """Continuous: features (..., F) -> mean and spread."""
        mean, spread = self.out(self.layers(x)).chunk(2, -1)
        return Normal(torch.tanh(mean), _MIN_STD + (_MAX_STD - _MIN_STD) * torch.sigmoid(spread + 2.0))

    def forward(self, x: Tensor, noise: Tensor | None = None) -> Tensor:
        """Features (..., F) -> actions (..., A): the mode, or a sample from uniform `noise` (..., A).

        Samples of the normal are not clipped here, or their log-probability would not be that of what was drawn and the
        policy gradient would be biased; the recurrent step and `DreamerV3.act` clip them.
        """
        if self.discrete:
            logprobs = self.logprobs(x)
            return one_hot_mode(logprobs) if noise is None else one_hot_sample(logprobs, noise[..., 0])
        mean, std = self.normal(x)
        if noise is None:
            return mean
        gauss = torch.special.ndtri(noise.clamp(1e-6, 1 - 1e-6))
        return mean + std * gauss
