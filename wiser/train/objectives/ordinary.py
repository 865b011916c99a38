"""The return, as DreamerV3 pursues it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from wiser.train.behaviour import Imagined, ReturnScale, actor_critic_loss, imagine, replay_value_loss
from wiser.train.config import TrainConfig
from wiser.train.objectives.objective import Objective
from wiser.train.sampling import share_of
from wiser.train.unroll import Observed
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import TwoHotHead
from wiser.worldmodel.protocol import Belief


class Dreams(NamedTuple):
    """What the actor imagines from all states of some sequences of a batch, B' of them, and these sequences."""

    imagined: Imagined  # of B' * T starts
    features: Tensor  # (B', T, F)
    signals: Mapping[str, Tensor]  # each (B', T)
    alive: Tensor  # (B', T): 0 where the episode ended for good
    last: Tensor  # (B', T): 1 where another episode follows


class Ordinary(Objective):
    """The discounted sum of rewards, as in DreamerV3."""

    def __init__(self, config: TrainConfig, model: DreamerV3) -> None:
        super().__init__(config, model)
        self.slow_critic = slow_copy(model.critic)
        self.scale = ReturnScale()

    def terms(self, model: DreamerV3, observed: Observed, generator: torch.Generator) -> dict[str, Tensor]:
        """Actor and critic in imagination, which starts from some of the sequences, and critic on real experience."""
        return self.behave(model, dream(self.config, model, observed, generator))

    def behave(self, model: DreamerV3, dreams: Dreams) -> dict[str, Tensor]:
        """What actor and critic learn from dreams and from the sequences they started from."""
        critic, slow, alive = model.critic, self.slow_critic, dreams.alive.flatten()
        terms, returns = actor_critic_loss(self.config, model, slow, self.scale, dreams.imagined, alive)
        return {**terms, "replay_critic": self.replayed(critic, slow, dreams, "reward", returns)}

    def replayed(
        self, critic: TwoHotHead, slow_critic: TwoHotHead, dreams: Dreams, signal: str, returns: Tensor
    ) -> Tensor:
        """What a critic of a signal learns from real experience, given the imagined returns of every state (B' * T)."""
        paid, alive = dreams.signals[signal], dreams.alive  # (B', T)
        returns = returns.view(alive.shape)
        return replay_value_loss(self.config, critic, slow_critic, dreams.features, paid, alive, dreams.last, returns)

    def follow(self, model: DreamerV3) -> None:
        """The slow critic takes over a little of the critic."""
        come_closer(self.slow_critic, model.critic, self.config.slow_rate)


def dream(config: TrainConfig, model: DreamerV3, observed: Observed, generator: torch.Generator) -> Dreams:
    """Let the actor play in the model from some of the sequences of a batch."""
    batch, belief = observed.batch, observed.starts
    some = share_of(len(batch.first), config.imagine_share, generator)  # rows, B' of them
    start = Belief(belief.deter[some].detach().flatten(0, 1), belief.stoch[some].detach().flatten(0, 1))
    imagined = imagine(model, start, config.imagine_steps, generator)
    signals = {name: value[some] for name, value in batch.signals.items()}
    last = torch.cat([batch.first[some, 1:], torch.zeros_like(batch.first[some, :1])], 1).float()  # (B', T)
    return Dreams(imagined, observed.features[some], signals, batch.proceed[some], last)


def slow_copy(critic: TwoHotHead) -> TwoHotHead:
    """A copy that is not trained."""
    return copy.deepcopy(critic).requires_grad_(False)


@torch.no_grad()
def come_closer(slow: nn.Module, fast: nn.Module, rate: float) -> None:
    """Take over a share of another module's weights."""
    torch._foreach_lerp_(list(slow.parameters()), list(fast.parameters()), rate)
