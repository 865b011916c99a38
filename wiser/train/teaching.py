"""Learning from a scripted expert: it drives some of the environments at first, and what it would do is cloned.

A run without an expert has neither of these objects: nothing of them is stored or computed.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wiser import seeds
from wiser.envs.domain import Rows, Teacher, domain_of
from wiser.guard.actions import to_model
from wiser.train.behaviour import action_logprob
from wiser.train.config import TrainConfig
from wiser.train.replay import Field, Sample
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.protocol import Actions

LABEL = "label"
"""Field of the replay with what the expert would do, as the model writes it (A,)."""
REACH = 0.95
"""How far the mean of the policy is to follow labels that are numbers: it is a tanh, which gets to 1 nowhere."""


def is_taught(config: TrainConfig) -> bool:
    """Whether a run wants an expert for anything."""
    return max(config.expert_share, config.cloning, config.cloning_floor) > 0


class Teaching:
    """How much the expert helps at each update, and the cloning term."""

    def __init__(self, config: TrainConfig) -> None:
        self.config = config
        self._figures: dict[str, Tensor] = {}

    @staticmethod
    def fields(actions: Actions) -> dict[str, Field]:
        """What is stored of every step besides the rest."""
        return {LABEL: Field((actions.size,), "float16")}

    def weight(self, update: int) -> float:
        """Weight of the cloning term at an update: linear from `cloning` to `cloning_floor`."""
        return self.config.cloning + (self.config.cloning_floor - self.config.cloning) * self._faded(update)

    def share(self, update: int) -> float:
        """Share of the environments the expert drives at an update: from `expert_share` to none."""
        return self.config.expert_share * (1 - self._faded(update))

    def _faded(self, update: int) -> float:
        return min(1.0, update / max(1.0, self.config.cloning_end * self.config.updates))

    def terms(self, model: DreamerV3, x: Tensor, sample: Sample, update: int) -> dict[str, Tensor]:
        """How unlike the expert the policy is at features (B, T, F); none without weight."""
        weight = self.weight(update)
        if weight <= 0:
            self._figures = {}
            return {}
        label = torch.from_numpy(sample.steps[LABEL]).to(x.device).float()  # (B, T, A)
        pulled = scale_gradient(x, self.config.cloning_pull)
        imitation = unlikeness(model, pulled, label).mean()
        self._figures = {"imitation": imitation.detach()}
        return {"cloning": weight * imitation}

    def figures(self) -> dict[str, Tensor]:
        """What the log is told besides: the last term before it was weighted, so how far imitation has come."""
        return self._figures


def unlikeness(model: DreamerV3, x: Tensor, label: Tensor) -> Tensor:
    """How unlike an expert's actions (..., A) the policy is at features (..., F): (...).

    Of choices, the cross-entropy. Of numbers, the negative log-density, each dimension of it times the variance, which
    is a constant there: beta-NLL with beta 1 (Seitzer et al., ICLR 2022). The mean then follows its plain error; by the
    density alone it would follow it up to 100 times as fast where the policy is sure already.
    """
    if model.actions.discrete:
        return -action_logprob(model, x, label)[0]
    policy = torch.distributions.Normal(*model.actor.normal(x))
    return -(policy.variance.detach() * policy.log_prob(label.clamp(-REACH, REACH))).sum(-1)


def find_teacher(config: TrainConfig, env: Rows) -> Teacher:
    """The expert of a run's environment; a ValueError if it has none."""
    teacher = domain_of(config.env).teacher(env)
    if teacher is None:
        alone = " when each environment has a process of its own" if config.processes else ""
        raise ValueError(f"{config.env} has no expert to learn from{alone}: set cloning and expert_share to 0")
    return teacher


class Guide:
    """The environment's expert beside the policy, while experience is gathered."""

    def __init__(self, config: TrainConfig, env: Rows, actions: Actions, seed: int) -> None:
        self.teacher, self.actions, self.space = find_teacher(config, env), actions, env.single_action_space
        self.noise, self.rng = config.expert_noise, seeds.generator("exploration", seed)

    def lead(
        self, chosen: NDArray[Any], share: float
    ) -> tuple[NDArray[Any], NDArray[np.bool_], dict[str, NDArray[Any]]]:
        """What is done where the policy has `chosen`, which rows the expert drives, and what to store of it.

        The first `share` of the rows follow the noisy expert.
        """
        would = self.teacher.actions()
        guided = np.arange(len(chosen)) < round(share * len(chosen))
        done = np.where(_like(guided, chosen), self._disturb(would), chosen)
        return done, guided, {LABEL: self._imitable(would)}

    def _imitable(self, would: NDArray[Any]) -> NDArray[Any]:
        """The expert's actions as the model writes them, (B, A); as probabilities where the teacher gives them."""
        policy = self.teacher.policy()
        return to_model(torch.as_tensor(would), self.actions).numpy() if policy is None else policy

    def _disturb(self, would: NDArray[Any]) -> NDArray[Any]:
        """Replace some of the expert's actions by random ones, so that its recoveries are seen too."""
        space = self.space
        if isinstance(space, gym.spaces.Discrete):
            random = space.start + self.rng.integers(0, space.n, len(would))
        else:
            assert isinstance(space, gym.spaces.Box)
            random = self.rng.uniform(space.low, space.high, would.shape).astype(would.dtype)
        wild = self.rng.random(len(would)) < self.noise
        return np.where(_like(wild, would), random, would)


def scale_gradient(x: Tensor, factor: float) -> Tensor:
    """The same values, with `factor` times the gradient."""
    return x.detach().lerp(x, factor) if factor != 1.0 else x


def _like(flags: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[np.bool_]:
    return flags.reshape(-1, *[1] * (values.ndim - 1))
