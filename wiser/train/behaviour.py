"""Learning to act in imagination: roll-outs of the model, lambda-returns, actor and critic losses."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import TwoHotHead, features
from wiser.worldmodel.latents import one_hot_sample
from wiser.worldmodel.protocol import Belief

LAMBDA, DISCOUNT_HORIZON, HORIZON = 0.95, 333, 15
DISCOUNT = 1 - 1 / DISCOUNT_HORIZON
ENTROPY, REPLAY_VALUE = 3e-4, 0.3


class Imagined(NamedTuple):
    """Roll-outs of H steps from n states; index 0 is the start. In memory they lie step by step."""

    features: Tensor  # (n, H + 1, F)
    action: Tensor  # (n, H + 1, A): chosen at each state
    reward: Tensor  # (n, H + 1)
    proceed: Tensor  # (n, H + 1): probability that the episode goes on


class ReturnScale(nn.Module):
    """Running range of returns between their 5th and 95th percentile, never below `limit`."""

    low: Tensor
    high: Tensor
    weight: Tensor

    def __init__(self, decay: float = 0.99, limit: float = 1.0) -> None:
        super().__init__()
        self.decay, self.limit = decay, limit
        for name in ("low", "high", "weight"):
            self.register_buffer(name, torch.zeros(()))

    @torch.no_grad()
    def forward(self, returns: Tensor) -> Tensor:
        """Take in new returns and give the scale to divide advantages by."""
        low, high = torch.quantile(returns.flatten(), returns.new_tensor([0.05, 0.95]))
        self.low.lerp_(low, 1 - self.decay)
        self.high.lerp_(high, 1 - self.decay)
        self.weight.lerp_(torch.ones_like(self.weight), 1 - self.decay)  # corrects the start from zero
        return ((self.high - self.low) / self.weight).clamp(min=self.limit)


@torch.no_grad()
def imagine(model: DreamerV3, start: Belief, generator: torch.Generator) -> Imagined:
    """Let the actor play in the model from beliefs (n rows) for `HORIZON` steps."""
    rows = start.deter.shape[0]
    shape = (HORIZON + 1, rows)
    latent_noise = torch.rand((*shape, model.config.stoch), generator=generator, device=generator.device)
    action_noise = torch.rand((*shape, model.actions.size), generator=generator, device=generator.device)
    belief, seen, actions = start, [], []
    for t in range(HORIZON + 1):
        seen.append(features(belief))
        actions.append(model.actor(seen[-1], action_noise[t]))
        if t < HORIZON:
            deter = model.gru(belief.deter, belief.stoch, actions[-1])
            belief = Belief(deter, one_hot_sample(model.prior(deter), latent_noise[t]))
    x = torch.stack(seen)  # (H + 1, n, F): all but the last step are one piece, which heads take without a copy
    proceed = torch.sigmoid(model.proceed(x)).T
    proceed[:, 0] = 1.0  # the start is known to be alive or its weight is set by the caller
    return Imagined(x.transpose(0, 1), torch.stack(actions).transpose(0, 1), model.reward.mean(x).T, proceed)


def lambda_returns(reward: Tensor, proceed: Tensor, value: Tensor, bootstrap: Tensor) -> Tensor:
    """Lambda-returns (n, H) of states 0..H-1 from rewards and continuations (n, H + 1) on arrival in each state.

    `value` (n, H + 1) is mixed in at every step; `bootstrap` (n,) stands for everything after the last.
    """
    live = proceed[:, 1:] * DISCOUNT
    interim = reward[:, 1:] + (1 - LAMBDA) * live * value[:, 1:]
    returns = [bootstrap]
    for t in reversed(range(live.shape[1])):
        returns.append(interim[:, t] + live[:, t] * LAMBDA * returns[-1])
    return torch.stack(returns[:0:-1], 1)


def actor_critic_loss(
    model: DreamerV3, slow_critic: TwoHotHead, scale: ReturnScale, imagined: Imagined, alive: Tensor
) -> tuple[dict[str, Tensor], Tensor]:
    """Actor and critic terms on imagined roll-outs, and the returns of their starts. `alive` (n,) weighs the starts."""
    x, action = imagined.features.transpose(0, 1), imagined.action.transpose(0, 1)  # (H + 1, n, ...)
    slow = slow_critic.mean(x).detach().T  # (n, H + 1)
    returns = lambda_returns(imagined.reward, imagined.proceed, slow, slow[:, -1])  # (n, H)
    advantage = (returns - slow[:, :-1]) / scale(returns)
    weight = torch.cumprod(torch.cat([alive[:, None], imagined.proceed[:, 1:-1] * DISCOUNT], 1), 1)  # (n, H)
    logprob, entropy = action_logprob(model, x[:-1], action[:-1])  # (H, n)
    terms = {"actor": -(weight.T * (logprob * advantage.T + ENTROPY * entropy)).mean()}
    terms["critic"] = critic_loss(model.critic, slow.T[:-1], x[:-1], returns.T, weight.T)
    return terms, returns[:, 0]


def critic_loss(critic: TwoHotHead, slow: Tensor, x: Tensor, returns: Tensor, weight: Tensor) -> Tensor:
    """Two-hot regression on returns, pulled with equal weight towards the slow critic's own prediction."""
    return (weight * critic.loss(x, returns, slow)).mean()


def action_logprob(model: DreamerV3, x: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy (...) of actions (..., A) at features (..., F)."""
    if model.actions.discrete:
        logprobs = model.actor.logprobs(x)
        return (logprobs * action).sum(-1), -(logprobs.exp() * logprobs).sum(-1)
    policy = torch.distributions.Normal(*model.actor.normal(x))
    return policy.log_prob(action).sum(-1), policy.entropy().sum(-1)


def replay_value_loss(
    model: DreamerV3, slow_critic: TwoHotHead, x: Tensor, reward: Tensor, proceed: Tensor, last: Tensor, starts: Tensor
) -> Tensor:
    """Critic on real experience (B, T), its returns bootstrapped with the imagined ones `starts` (B, T).

    `last` (B, T) marks steps after which the stored sequence jumps to another episode.
    """
    slow = slow_critic.mean(x).detach()
    live, mix = proceed[:, 1:] * DISCOUNT, (1 - last[:, 1:]) * LAMBDA
    interim = reward[:, 1:] + (1 - mix) * live * starts[:, 1:]
    returns = [starts[:, -1]]
    for t in reversed(range(live.shape[1])):
        returns.append(interim[:, t] + live[:, t] * mix[:, t] * returns[-1])
    target = torch.stack(returns[:0:-1], 1)  # (B, T - 1)
    return REPLAY_VALUE * critic_loss(model.critic, slow[:, :-1], x[:, :-1], target, 1 - last[:, :-1])
