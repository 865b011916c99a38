"""As much reward as a limited cost allows: BSRP-Lag of SafeDreamer (Huang et al., ICLR 2024).

The model foresees the cost of every step, a critic of its own the cost to come. What imagined roll-outs cost above a
limit is paid for in the actor's loss, at a price that rises for as long as the limit is exceeded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from wiser.train import distributed
from wiser.train.behaviour import action_logprob, critic_loss, outlook
from wiser.train.config import TrainConfig
from wiser.train.objectives.ordinary import Dreams, Ordinary, come_closer, slow_copy
from wiser.train.unroll import Observed
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import TwoHotHead


class Safe(Ordinary):
    """The discounted sum of rewards, where the returns of an imagined roll-out's costs add up to a limit at most."""

    signals: ClassVar[tuple[str, ...]] = ("reward", "cost")
    shape: ClassVar[Mapping[str, Any]] = {"costs": True}

    def __init__(self, config: TrainConfig, model: DreamerV3) -> None:
        super().__init__(config, model)
        self.cost_critic = TwoHotHead(model.config, layers=3)
        self.slow_cost_critic = slow_copy(self.cost_critic)
        self.price = Price(config.penalty)
        self.cost_return = torch.zeros(())

    def terms(self, model: DreamerV3, observed: Observed, generator: torch.Generator) -> dict[str, Tensor]:
        """What the ordinary objective adds, and the cost: its head, its critic, and what exceeding the limit costs."""
        cost = observed.batch.signals["cost"]  # (B, T)
        weight = torch.where(cost >= 1.0, self.config.cost_weight, 1.0)
        foresight = (weight * foreseer(model).loss(observed.features, cost)).mean()
        return {**super().terms(model, observed, generator), "cost": foresight}

    def behave(self, model: DreamerV3, dreams: Dreams) -> dict[str, Tensor]:
        """The same for reward and cost; the actor pays for the cost."""
        critic, slow, imagined, alive = self.cost_critic, self.slow_cost_critic, dreams.imagined, dreams.alive.flatten()
        x, action = imagined.features.transpose(0, 1)[:-1], imagined.action.transpose(0, 1)[:-1]  # (H, n, ...)
        with torch.no_grad():
            cost = foreseer(model).mean(imagined.features.transpose(0, 1)).T  # (n, H + 1)
        returns, advantage, weight = outlook(self.config, critic, cost, imagined, alive)  # (n, H) each
        logprob, _ = action_logprob(model, x, action)  # (H, n)
        return {
            **super().behave(model, dreams),
            "penalty": self.price(self._excess(returns, advantage, logprob.T, alive[:, None])),
            "cost_critic": critic_loss(critic, slow, x, returns.T, weight.T),
            "replay_cost_critic": self.replayed(critic, slow, dreams, "cost", returns[:, 0]),
        }

    def _excess(self, returns: Tensor, advantage: Tensor, logprob: Tensor, alive: Tensor) -> Tensor:
        """By how much the costs exceed the limit, with the policy's gradient: each return is due to its first action.

        Returns, advantages and log-probabilities are (n, H). After the end, where `alive` (n, 1) is 0, nothing costs.
        """
        self.cost_return = distributed.mean((alive * returns).sum(1).mean())
        slope = (alive * logprob * advantage).sum(1).mean()
        return self.cost_return - self.config.cost_limit + slope - slope.detach()

    def follow(self, model: DreamerV3) -> None:
        """Both slow critics take over a little of theirs."""
        super().follow(model)
        come_closer(self.slow_cost_critic, self.cost_critic, self.config.slow_rate)

    def figures(self) -> dict[str, Tensor]:
        """The cost returns, as the limit bounds them, and what a unit of them costs."""
        return {"cost_return": self.cost_return, "multiplier": self.price.multiplier.clone()}


class Price(nn.Module):
    """What it costs to exceed a limit: the augmented Lagrangian of an inequality (Nocedal and Wright, eq. 17.65).

    In double precision: the multiplier is a sum of very many very small numbers.
    """

    GROWTH, MOST, FIRST = 1e-5, 1.0, 1e-6  # of the penalty by update; the largest penalty; the first multiplier
    multiplier: Tensor
    penalty: Tensor

    def __init__(self, penalty: float) -> None:
        super().__init__()
        for name, value in (("multiplier", self.FIRST), ("penalty", penalty)):
            self.register_buffer(name, torch.tensor(value, dtype=torch.float64))

    def forward(self, excess: Tensor) -> Tensor:
        """What an excess adds to the loss; then the multiplier and the penalty change."""
        multiplier, penalty = self.multiplier.clone(), self.penalty.clone()
        moved = multiplier + penalty * excess.detach()
        self.multiplier.copy_(moved.clamp(min=0.0))
        self.penalty.mul_(1 + self.GROWTH).clamp_(max=self.MOST)
        active = multiplier * excess + penalty / 2 * excess**2
        return torch.where(moved > 0, active, -(multiplier**2) / (2 * penalty)).to(excess.dtype)


def foreseer(model: DreamerV3) -> TwoHotHead:
    """The model's cost head."""
    if model.cost is None:
        raise ValueError("the objective 'safe' needs a model that foresees costs: DreamerConfig(costs=True)")
    return model.cost
