"""DreamerV3 behind the seam."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from wiser.worldmodel.dreamer.config import DreamerConfig
from wiser.worldmodel.dreamer.decoder import sensor_decoder
from wiser.worldmodel.dreamer.fusion import ChannelFusion, Features, LateFusion
from wiser.worldmodel.dreamer.heads import Actor, ContinueHead, TwoHotHead, features
from wiser.worldmodel.dreamer.rssm import BlockGRU, PosteriorHead, PriorHead
from wiser.worldmodel.foresight import Foreseen
from wiser.worldmodel.protocol import Belief, Prior


class DreamerV3(nn.Module):
    """World model, actor and critic. Implements `wiser.worldmodel.protocol.WorldModel`."""

    def __init__(self, config: DreamerConfig, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        self.sensors = config.sensors
        self.actions = config.actions
        self.decodes = tuple(sensor.name for sensor in config.sensors if config.decoder)
        self.folder: Path | None = None
        self.digest: str | None = None
        with torch.random.fork_rng(devices=[]):  # initialisation draws from its own seed, not from the caller's
            torch.manual_seed(seed)
            self.fusion = (LateFusion if config.fusion == "late" else ChannelFusion)(config)
            self.gru = BlockGRU(config)
            self.prior = PriorHead(config)
            self.posterior = PosteriorHead(config, self.fusion.feature_count)
            decoded = config.sensors if config.decoder else ()
            self.decoders = nn.ModuleList(sensor_decoder(config, sensor) for sensor in decoded)
            self.reward = TwoHotHead(config, layers=1)
            self.proceed = ContinueHead(config)
            self.actor = Actor(config)
            self.critic = TwoHotHead(config, layers=3)
            self.cost = TwoHotHead(config, layers=1) if config.costs else None

    def initial(self, rows: int) -> Belief:
        """Return the belief before an episode: all zero, as in the current DreamerV3."""
        like = self.posterior.from_deter.weight
        return Belief(
            like.new_zeros(rows, self.config.deter), like.new_zeros(rows, self.config.stoch, self.config.classes)
        )

    def predict(self, belief: Belief, action: Tensor, first: Tensor) -> Prior:
        """Advance one step; rows with `first` (B,) start from the initial belief and a zero action."""
        deter = self.gru(*begin_afresh(belief, action, first))
        return Prior(deter, self.prior(deter))

    def embed(self, obs: Mapping[str, Tensor]) -> Features:
        """Encode each sensor once."""
        return self.fusion.embed(obs)

    def infer(self, prior: Prior, features: Features, masks: Tensor) -> Tensor:
        """Posterior log-probabilities (B, K, S, C) for candidate subsets `masks` (B, K, N), True = trusted.

        The prior is that of each row, or one of each row and subset.
        """
        return self.posterior(prior.deter, self.fusion.first_layer(features, masks))

    def decode(self, belief: Belief) -> dict[str, Tensor]:
        """Expected readings of `decodes`: images in [0, 1], vectors in their own units."""
        return {name: decoder(belief) for name, decoder in zip(self.decodes, self.decoders, strict=True)}

    def act(self, belief: Belief, noise: Tensor | None = None) -> Tensor:
        """Choose actions (B, A): one-hot if discrete, else in [-1, 1]."""
        action = self.actor(features(belief), noise)
        return action if self.actions.discrete else action.clamp(-1.0, 1.0)

    def foresee(self, belief: Belief) -> Foreseen:
        """What states (...) are expected to pay and to cost, and whether life goes on in them."""
        x = features(belief)
        reward = self.reward.mean(x)
        cost = torch.zeros_like(reward) if self.cost is None else self.cost.mean(x)
        return Foreseen(reward, cost, torch.sigmoid(self.proceed(x)), self.critic.mean(x))


def begin_afresh(belief: Belief, action: Tensor, first: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Zero the belief and action of rows with `first` (B,), whatever they held: a product would keep a NaN."""
    gone = first.bool()[:, None]  # (B, 1)
    return (
        belief.deter.masked_fill(gone, 0.0),
        belief.stoch.masked_fill(gone[..., None], 0.0),
        action.masked_fill(gone, 0.0),
    )
