"""Learning to act in imagination: roll-outs of the model, lambda-returns, actor and critic losses."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from wiser.train.config import TrainConfig
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import TwoHotHead, features
from wiser.worldmodel.foresight import lambda_returns
from wiser.worldmodel.latents import one_hot_sample
from wiser.worldmodel.protocol import Belief


class Imagined(NamedTuple):
    """Roll-outs of H steps from n states; index 0 is the start. In memory they lie step by step."""

    features: Tensor  # (n, H + 1, F)
    action: Tensor  # (n, H + 1, A): chosen at each state; continuous ones as drawn, before any clipping
    reward: Tensor  # (n, H + 1)
    proceed: Tensor  # (n, H + 1): what the continue head predicts


class Outlook(NamedTuple):
    """What comes of roll-outs from each of their states but the last, (n, H) each."""

    returns: Tensor
    advantage: Tensor
    """How much more than the critic had expected."""
    weight: Tensor
    """How much a state counts."""


class ReturnScale(nn.Module):
    """Running range of returns between their 5th and 95th percentile, from 0 on, never below `limit`."""

    low: Tensor
    high: Tensor

    def __init__(self, decay: float = 0.99, limit: float = 1.0) -> None:
        super().__init__()
        self.decay, self.limit = decay, limit
        for name in ("low", "high"):
            self.register_buffer(name, torch.zeros(()))

    @torch.no_grad()
    def forward(self, returns: Tensor) -> Tensor:
        """Take in new returns and give the scale to divide advantages by."""
        low, high = torch.quantile(returns.flatten(), returns.new_tensor([0.05, 0.95]))
        self.low.lerp_(low, 1 - self.decay)
        self.high.lerp_(high, 1 - self.decay)
        return (self.high - self.low).clamp(min=self.limit)


@torch.no_grad()
def imagine(model: DreamerV3, start: Belief, steps: int, generator: torch.Generator) -> Imagined:
    """Let the actor play in the model from beliefs (n rows) for H = `steps` steps."""
    rows = start.deter.shape[0]
    shape = (steps + 1, rows)
    latent_noise = torch.rand((*shape, model.config.stoch), generator=generator, device=generator.device)
    action_noise = torch.rand((*shape, model.actions.size), generator=generator, device=generator.device)
    belief, seen, actions = start, [], []
    for t in range(steps + 1):
        seen.append(features(belief))
        actions.append(model.actor(seen[-1], action_noise[t]))
        if t < steps:
            deter = model.gru(belief.deter, belief.stoch, actions[-1])
            belief = Belief(deter, one_hot_sample(model.prior(deter), latent_noise[t]))
    x = torch.stack(seen)  # (H + 1, n, F): all but the last step are one piece, which heads take without a copy
    proceed = torch.sigmoid(model.proceed(x)).T
    proceed[:, 0] = 1.0  # the start is known to be alive or its weight is set by the caller
    return Imagined(x.transpose(0, 1), torch.stack(actions).transpose(0, 1), model.reward.mean(x).T, proceed)


@torch.no_grad()
def outlook(config: TrainConfig, critic: TwoHotHead, paid: Tensor, imagined: Imagined, alive: Tensor) -> Outlook:
    """What comes of a signal that states pay on arrival, `paid` (n, H + 1). `alive` (n,) weighs the starts."""
    value = critic.mean(imagined.features.transpose(0, 1)).T  # (n, H + 1)
    live = imagined.proceed * config.imagined_discount  # (n, H + 1)
    returns = lambda_returns(paid, live, config.return_lambda, value)  # (n, H)
    weight = torch.cumprod(torch.cat([config.continues(alive)[:, None], live[:, 1:-1]], 1), 1)  # (n, H)
    return Outlook(returns, returns - value[:, :-1], weight)


def actor_critic_loss(
    config: TrainConfig,
    model: DreamerV3,
    slow_critic: TwoHotHead,
    scale: ReturnScale,
    imagined: Imagined,
    alive: Tensor,
) -> tuple[dict[str, Tensor], Tensor]:
    """Actor and critic terms on imagined roll-outs, and the returns of their starts. `alive` (n,) weighs the starts."""
    x, action = imagined.features.transpose(0, 1), imagined.action.transpose(0, 1)  # (H + 1, n, ...)
    returns, advantage, weight = outlook(config, model.critic, imagined.reward, imagined, alive)  # (n, H) each
    advantage = advantage / scale(returns)
    logprob, entropy = action_logprob(model, x[:-1], action[:-1])  # (H, n)
    terms = {"actor": -(weight.T * (logprob * advantage.T + config.entropy * entropy)).mean()}
    terms["critic"] = critic_loss(model.critic, slow_critic, x[:-1], returns.T, weight.T)
    return terms, returns[:, 0]


def critic_loss(critic: TwoHotHead, slow_critic: TwoHotHead, x: Tensor, returns: Tensor, weight: Tensor) -> Tensor:
    """Two-hot regression on returns, pulled with equal weight towards the slow critic's own prediction."""
    return (weight * critic.loss(x, returns, slow_critic.mean(x).detach())).mean()


def action_logprob(model: DreamerV3, x: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy (...) of actions (..., A) at features (..., F)."""
    if model.actions.discrete:
        logprobs = model.actor.logprobs(x)
        return (logprobs * action).sum(-1), -(logprobs.exp() * logprobs).sum(-1)
    policy = torch.distributions.Normal(*model.actor.normal(x))
    return policy.log_prob(action).sum(-1), policy.entropy().sum(-1)


def replay_value_loss(
    config: TrainConfig,
    critic: TwoHotHead,
    slow_critic: TwoHotHead,
    x: Tensor,
    reward: Tensor,
    proceed: Tensor,
    last: Tensor,
    starts: Tensor,
) -> Tensor:
    """Critic on real experience (B, T), its returns bootstrapped with the imagined ones `starts` (B, T).

    `last` (B, T) marks steps after which the stored sequence jumps to another episode.
    """
    target = lambda_returns(reward, proceed * config.discount, (1 - last) * config.return_lambda, starts)  # (B, T - 1)
    loss = critic_loss(critic, slow_critic, x[:, :-1], target, 1 - last[:, :-1])
    return config.replay_value * loss
