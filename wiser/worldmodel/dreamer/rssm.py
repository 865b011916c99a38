"""The recurrent state-space model: block GRU, prior and posterior over categorical latents."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from wiser.worldmodel.dreamer.config import DreamerConfig
from wiser.worldmodel.dreamer.layers import MLP, BlockLinear, NormAct, init_weight, linear
from wiser.worldmodel.latents import unimix_logprobs


class BlockGRU(nn.Module):
    """h_t = f(h_{t-1}, z_{t-1}, a_{t-1}), with block-diagonal gates that all see the same mixed inputs."""

    def __init__(self, config: DreamerConfig) -> None:
        super().__init__()
        self.blocks = config.blocks
        self.from_deter = MLP(config.deter, config.hidden, 1)
        self.from_stoch = MLP(config.stoch * config.classes, config.hidden, 1)
        self.from_action = MLP(config.actions.size, config.hidden, 1)
        mixed = config.deter + config.blocks * 3 * config.hidden
        self.mix = BlockLinear(mixed, config.deter, config.blocks)
        self.mix_norm = NormAct(config.deter)
        self.gates = BlockLinear(config.deter, 3 * config.deter, config.blocks)

    def forward(self, deter: Tensor, stoch: Tensor, action: Tensor) -> Tensor:
        """deter (B, D), stoch (B, S, C), action (B, A) -> (B, D)."""
        rows, blocks = deter.shape[0], self.blocks
        action = action / action.abs().clamp(min=1.0).detach()
        inputs = torch.cat(
            [self.from_deter(deter), self.from_stoch(stoch.flatten(1)), self.from_action(action)], -1
        )  # (B, 3 hidden)
        own = deter.view(rows, blocks, -1)  # (B, blocks, D / blocks)
        x = torch.cat([own, inputs[:, None].expand(-1, blocks, -1)], -1)
        x = self.mix_norm(self.mix(x))  # (B, D)
        gates = self.gates(x.view(rows, blocks, -1)).view(rows, blocks, 3, -1)
        reset, candidate, update = (gates[:, :, i].reshape(rows, -1) for i in range(3))  # (B, D) each
        candidate = torch.tanh(torch.sigmoid(reset) * candidate)
        update = torch.sigmoid(update - 1)  # biased towards keeping the state
        return torch.lerp(deter, candidate, update)


class LatentHead(nn.Module):
    """Linear to S x C logits, with a share of the uniform distribution mixed in."""

    def __init__(self, config: DreamerConfig) -> None:
        super().__init__()
        self.shape = (config.stoch, config.classes)
        self.unimix = config.unimix
        self.logits = linear(config.hidden, config.stoch * config.classes)

    def forward(self, x: Tensor) -> Tensor:
        """(..., hidden) -> log-probabilities (..., S, C)."""
        return unimix_logprobs(self.logits(x).unflatten(-1, self.shape), self.unimix)


class PriorHead(nn.Sequential):
    """p(z_t | h_t): two layers and logits."""

    def __init__(self, config: DreamerConfig) -> None:
        super().__init__(MLP(config.deter, config.hidden, 2), LatentHead(config))


class PosteriorHead(nn.Module):
    """q(z_t | h_t, x_t): the recurrent part of the first layer, its norm, and logits."""

    def __init__(self, config: DreamerConfig, features: int) -> None:
        super().__init__()
        self.from_deter = linear(config.deter, config.hidden)
        init_weight(self.from_deter.weight, config.deter + features)  # one layer over [h_t, all sensors]
        self.norm = NormAct(config.hidden)
        self.head = LatentHead(config)

    def forward(self, deter: Tensor, sensors: Tensor) -> Tensor:
        """deter (B, D) or (B, K, D), sensor part of the first layer (B, K, H) -> log-probabilities (B, K, S, C)."""
        recurrent = self.from_deter(deter)
        return self.head(self.norm((recurrent[:, None] if deter.dim() == 2 else recurrent) + sensors))
