"""Objectives: what actor and critic pursue, and what of the environment they need to know for it."""

from __future__ import annotations

import copy
from typing import ClassVar

import torch
from torch import Tensor

from wiser.train.behaviour import ReturnScale, actor_critic_loss, imagine, replay_value_loss
from wiser.train.config import TrainConfig
from wiser.train.parts import Part, find
from wiser.train.sampling import share_of
from wiser.train.unroll import Observed
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.protocol import Belief


class Objective(Part):
    """What is to be maximised. Critics, heads of further signals and multipliers are modules and buffers of its own."""

    signals: ClassVar[tuple[str, ...]] = ("reward",)
    """What it learns from: the reward, and further keys of the environment's `info`."""


class Ordinary(Objective):
    """The discounted sum of rewards, as in DreamerV3."""

    def __init__(self, config: TrainConfig, model: DreamerV3) -> None:
        super().__init__(config, model)
        self.slow_critic = copy.deepcopy(model.critic).requires_grad_(False)
        self.scale = ReturnScale()

    def terms(self, model: DreamerV3, observed: Observed, generator: torch.Generator) -> dict[str, Tensor]:
        """Actor and critic in imagination, which starts from some of the sequences, and critic on real experience."""
        config, batch, belief = self.config, observed.batch, observed.starts
        some = share_of(len(batch.first), config.imagine_share, generator)  # rows, B' of them
        start = Belief(belief.deter[some].detach().flatten(0, 1), belief.stoch[some].detach().flatten(0, 1))
        imagined = imagine(model, start, config.imagine_steps, generator)
        alive = batch.proceed[some]  # (B', T)
        terms, returns = actor_critic_loss(config, model, self.slow_critic, self.scale, imagined, alive.flatten())
        last = torch.cat([batch.first[some, 1:], torch.zeros_like(batch.first[some, :1])], 1).float()  # (B', T)
        reward, returns = batch.signals["reward"][some], returns.view(alive.shape)  # (B', T)
        terms["replay_critic"] = replay_value_loss(
            config, model.critic, self.slow_critic, observed.features[some], reward, alive, last, returns
        )
        return terms

    @torch.no_grad()
    def follow(self, model: DreamerV3) -> None:
        """The slow critic takes over a little of the critic."""
        fast: list[Tensor] = list(model.critic.parameters())
        slow: list[Tensor] = list(self.slow_critic.parameters())
        torch._foreach_lerp_(slow, fast, self.config.slow_rate)


OBJECTIVES: dict[str, type[Objective]] = {"ordinary": Ordinary}
"""By the name that `TrainConfig.objective` gives. Add your own."""


def find_objective(name: str) -> type[Objective]:
    """The objective of that name."""
    return find("objective", OBJECTIVES, name)
