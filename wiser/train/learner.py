"""One gradient step: world model, actor and critic together."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from wiser import seeds
from wiser.guard.actions import to_model
from wiser.train import distributed
from wiser.train.behaviour import ReturnScale, action_logprob, actor_critic_loss, imagine, replay_value_loss
from wiser.train.config import TrainConfig
from wiser.train.losses import world_model_loss
from wiser.train.optimiser import LaProp
from wiser.train.replay import Replay, Sample
from wiser.train.unroll import Sequences, Unrolled, observe
from wiser.train.variants import input_masks, input_readings
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import features
from wiser.worldmodel.protocol import Belief


class Learner:
    """Everything that learns, and how."""

    def __init__(self, config: TrainConfig, model: DreamerV3, rank: int = 0) -> None:
        self.config, self.model = config, model
        self.slow_critic = copy.deepcopy(model.critic).requires_grad_(False)
        self.scale = ReturnScale().to(config.device)
        self.optimiser = LaProp(list(self.trainable()), config.learning_rate, agc=config.agc, warmup=config.warmup)
        self.generator = torch.Generator(config.device)
        self.generator.manual_seed(int(seeds.stream("learner", config.seed, rank).generate_state(1)[0]))

    def trainable(self) -> Iterator[Tensor]:
        """Every weight of the model."""
        yield from self.model.parameters()

    def update(self, replay: Replay, rng: np.random.Generator, update: int) -> dict[str, Tensor]:
        """Learn from one batch, the run's `update`-th; returns the terms of the loss."""
        config, model, cloning = self.config, self.model, self.config.cloning_weight(update)
        self.optimiser.param_groups[0]["lr"] = config.learning_rate * config.rate_factor(update)
        sample = replay.sample(config.batch, config.length, rng)
        batch, label = to_tensors(sample, model, config.device)
        unrolled = self._observe(sample, batch)
        decoded = self._share(batch.first.numel(), config.decode_share)
        total, terms = world_model_loss(config, model, batch, unrolled, decoded)
        for name, value in self._behaviour(batch, unrolled, label, cloning).items():
            total = total + value
            terms[name] = value.detach()
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()
        distributed.average_gradients(self.trainable())
        self.optimiser.step()
        self._follow_slowly()
        replay.refresh(sample, stored_belief(unrolled.belief))
        return terms

    def _observe(self, sample: Sample, batch: Sequences) -> Unrolled:
        shape = (self.config.batch, self.config.length)
        masks = input_masks(self.config, shape, len(self.model.sensors), self.generator)
        seen = batch._replace(obs=input_readings(self.config, batch.obs, self.generator))
        return observe(self.model, seen, masks, self.generator, belief_before(sample, self.model, self.config.device))

    def _behaviour(self, batch: Sequences, unrolled: Unrolled, label: Tensor, cloning: float) -> dict[str, Tensor]:
        config, model, slow = self.config, self.model, self.slow_critic
        x = features(unrolled.belief)  # (B, T, F): here gradients do reach the world model
        some = self._share(config.batch, config.imagine_share)  # rows, B' of them
        deter, stoch = unrolled.belief.deter[some].detach(), unrolled.belief.stoch[some].detach()
        start = Belief(deter.flatten(0, 1), stoch.flatten(0, 1))
        imagined = imagine(model, start, config.imagine_steps, self.generator)
        alive = batch.proceed[some]  # (B', T)
        terms, returns = actor_critic_loss(config, model, slow, self.scale, imagined, alive.flatten())
        last = torch.cat([batch.first[some, 1:], torch.zeros_like(batch.first[some, :1])], 1).float()
        terms["replay_critic"] = replay_value_loss(
            config, model, slow, x[some], batch.reward[some], alive, last, returns.view(alive.shape)
        )
        if cloning > 0:
            seen = scale_gradient(x, config.cloning_pull)
            terms["cloning"] = -cloning * action_logprob(model, seen, label)[0].mean()
        return terms

    def _share(self, count: int, share: float) -> Tensor | slice:
        """All of `count` indices, or a random share of them."""
        if share >= 1.0:
            return slice(None)
        order = torch.randperm(count, generator=self.generator, device=self.generator.device)
        return order[: max(1, round(share * count))]

    @torch.no_grad()
    def _follow_slowly(self) -> None:
        fast: list[Tensor] = list(self.model.critic.parameters())
        slow: list[Tensor] = list(self.slow_critic.parameters())
        torch._foreach_lerp_(slow, fast, self.config.slow_rate)


def scale_gradient(x: Tensor, factor: float) -> Tensor:
    """The same values, with `factor` times the gradient."""
    return x.detach().lerp(x, factor) if factor != 1.0 else x


def to_tensors(sample: Sample, model: DreamerV3, device: str) -> tuple[Sequences, Tensor]:
    """Sequences for the model, and the expert's actions as the model writes them (B, T, A)."""
    steps = {name: torch.from_numpy(value).to(device) for name, value in sample.steps.items()}
    batch = Sequences(
        {sensor.name: steps[sensor.name] for sensor in model.sensors},
        encode_actions(steps["action"], model),
        steps["first"],
        steps["reward"],
        steps["proceed"].float(),
    )
    return batch, steps["label"].float()


def encode_actions(actions: Tensor, model: DreamerV3) -> Tensor:
    """Environment actions (B, T) or (B, T, A) as the model writes them, (B, T, A)."""
    return to_model(actions.flatten(0, 1), model.actions).unflatten(0, actions.shape[:2])


def belief_before(sample: Sample, model: DreamerV3, device: str) -> Belief:
    """Return the stored belief before each sequence; the initial one where there is none."""
    keep = torch.from_numpy(~sample.fresh_start).to(device)[:, None]
    deter = torch.from_numpy(sample.before["deter"]).to(device).float()
    stoch = F.one_hot(torch.from_numpy(sample.before["stoch"]).to(device).long(), model.config.classes).float()
    return Belief(deter * keep, stoch * keep[..., None])


def stored_belief(belief: Belief) -> dict[str, np.ndarray]:
    """Beliefs (B, T, ...) in the form the replay keeps them."""
    deter, stoch = belief.deter.detach(), belief.stoch.detach()
    return {"deter": deter.half().cpu().numpy(), "stoch": stoch.argmax(-1).to(torch.uint8).cpu().numpy()}
