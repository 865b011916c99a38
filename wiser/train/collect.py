"""Gathering experience: many environments stepped as one batch, one batched policy call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any
from zlib import crc32

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from torch import Tensor

from wiser import seeds
from wiser.envs.domain import domain_of
from wiser.envs.vector import make_rows
from wiser.guard import Guard
from wiser.guard.actions import to_environment, to_model
from wiser.train.config import TrainConfig
from wiser.train.replay import Field, Replay
from wiser.worldmodel import Actions, Sensor, sensors_of
from wiser.worldmodel.dreamer import DreamerV3


def make_env(config: TrainConfig, rows: int) -> VectorEnv[Any, Any, Any]:
    """Build the run's environment as a batch of `rows`."""
    return make_rows(config.env, rows, config.sensors)


def describe(env: VectorEnv[Any, Any, Any], config: TrainConfig) -> tuple[tuple[Sensor, ...], Actions]:
    """Sensors the run uses, all of them unless it names some, and the actions."""
    sensors = sensors_of(env.single_observation_space)
    if config.sensors:
        sensors = tuple(sensor for sensor in sensors if sensor.name in config.sensors)
    return sensors, Actions.from_space(env.single_action_space)


def replay_fields(model: DreamerV3) -> dict[str, Field]:
    """What is stored of every step."""
    action = Field((), "int64") if model.actions.discrete else Field((model.actions.size,), "float32")
    return {
        **{sensor.name: Field(sensor.shape, sensor.dtype) for sensor in model.sensors},
        "action": action,  # taken before the observation
        "label": Field((model.actions.size,), "float16"),  # what the expert would do now, as the model writes it
        "reward": Field((), "float32"),
        "first": Field((), "bool"),
        "proceed": Field((), "bool"),
        "deter": Field((model.config.deter,), "float16"),
        "stoch": Field((model.config.stoch,), "uint8"),
    }


class Collector:
    """Steps the environments with a mixture of the policy and the environment's expert, and fills the replay.

    The environments of a collector are fixed by its seed and the actions taken, which it remembers: `restore` brings a
    new collector where another one was, whatever kind of environment it is.
    """

    def __init__(self, config: TrainConfig, model: DreamerV3, replay: Replay, seed: int) -> None:
        self.config, self.replay, self.seed = config, replay, seed
        self.env = make_env(config, config.rows)
        self.teacher = domain_of(config.env).teacher(self.env)
        if self.teacher is None and (config.cloning > 0 or config.expert_share > 0):
            raise ValueError(f"{config.env} has no expert to learn from: set cloning and expert_share to 0")
        self.rng = seeds.generator("exploration", seed)
        self.guard = Guard(model, "none", rows=config.rows, sample_actions=True, seed=seed)
        self.finished: list[float] = []  # returns of the last episodes the policy drove
        self._begin()

    def _begin(self) -> None:
        rows = self.config.rows
        self.obs, _ = self.env.reset(seed=self.seed)
        self.first, self.done = np.ones(rows, bool), np.zeros(rows, bool)
        self.action = np.zeros_like(self.env.action_space.sample()) + self.guard.model.actions.start
        self.reward, self.proceed = np.zeros(rows, np.float32), np.ones(rows, bool)
        self.score, self.helped = np.zeros(rows), np.zeros(rows, bool)
        self.taken: list[NDArray[Any]] = []

    def step(self, expert_share: float) -> None:
        """Act once in every environment. The first `expert_share` of the rows follow the noisy expert.

        The last `greedy_share` of the rows act greedily: the states a policy gets stuck in are then seen in training.
        """
        rows = self.config.rows
        chosen, _ = self.guard.act(self.obs, self.first)
        if greedy_rows := round(self.config.greedy_share * rows):
            chosen[rows - greedy_rows :] = self._greedy()[rows - greedy_rows :]
        label = chosen if self.teacher is None else self.teacher.actions()
        guided = np.arange(rows) < round(expert_share * rows)
        chosen = np.where(_like(guided, chosen), self._disturb(label), chosen)
        self.guard.executed(chosen)
        self._store(self._imitable(label))
        self._advance(chosen)
        self._keep_score(guided)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """What `restore` needs: tensors by name, and plain values."""
        tensors, draws = self.guard.state()
        about = {
            "seed": self.seed,
            "draws": draws,
            "rng": self.rng.bit_generator.state,
            "score": self.score.tolist(),
            "helped": self.helped.tolist(),
            "finished": self.finished,
            "observation": self._fingerprint(),
        }
        return {**tensors, "taken": torch.from_numpy(np.array(self.taken))}, about

    def restore(self, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """Take the remembered actions again and go on from there.

        An environment that does not come back to the same observation (a robot, a simulator that is not deterministic)
        begins afresh, with a warning: nothing is lost but the exact repetition of what an uninterrupted run would do.
        """
        for action in tensors["taken"].numpy():
            self._advance(action)
        if self._fingerprint() != about["observation"]:
            warnings.warn(f"{self.config.env} is not deterministic: its episodes begin afresh", stacklevel=2)
            self._begin()
            return
        self.guard.restore({name: value for name, value in tensors.items() if name != "taken"}, about["draws"])
        self.rng.bit_generator.state = about["rng"]
        self.score, self.helped = np.array(about["score"]), np.array(about["helped"])
        self.finished = list(about["finished"])

    def close(self) -> None:
        """Let go of the environments."""
        self.env.close()

    def _advance(self, chosen: NDArray[Any]) -> None:
        self.taken.append(chosen)
        self.obs, reward, terminated, truncated, _ = self.env.step(chosen)
        self.action, self.reward, self.proceed = chosen, reward.astype(np.float32), ~terminated
        self.first, self.done = self.done, terminated | truncated  # the step after an end begins the next episode

    def _fingerprint(self) -> int:
        names = [sensor.name for sensor in self.guard.model.sensors]
        return crc32(b"".join(np.ascontiguousarray(self.obs[name]).tobytes() for name in names))

    def _imitable(self, label: NDArray[Any]) -> NDArray[Any]:
        """The expert's actions as the model writes them, (B, A); as probabilities where the teacher gives them."""
        policy = None if self.teacher is None else self.teacher.policy()
        return to_model(torch.as_tensor(label), self.guard.model.actions).numpy() if policy is None else policy

    def _greedy(self) -> NDArray[Any]:
        model = self.guard.model
        with torch.no_grad():
            return to_environment(model.act(self.guard.belief), model.actions).cpu().numpy()

    def _store(self, label: NDArray[Any]) -> None:
        belief = self.guard.belief
        self.replay.add(
            {
                **{sensor.name: self.obs[sensor.name] for sensor in self.guard.model.sensors},
                "action": self.action,
                "label": label,
                "reward": self.reward * self.config.reward_scale,
                "first": self.first,
                "proceed": self.proceed,
                "deter": belief.deter.half().cpu().numpy(),
                "stoch": belief.stoch.argmax(-1).to(torch.uint8).cpu().numpy(),
            },
            self.config.length,
        )

    def _disturb(self, label: NDArray[Any]) -> NDArray[Any]:
        """Replace some of the expert's actions by random ones, so that its recoveries are seen too."""
        space = self.env.single_action_space
        if isinstance(space, gym.spaces.Discrete):
            random = space.start + self.rng.integers(0, space.n, len(label))
        else:
            assert isinstance(space, gym.spaces.Box)
            random = self.rng.uniform(space.low, space.high, label.shape).astype(label.dtype)
        wild = self.rng.random(len(label)) < self.config.expert_noise
        return np.where(_like(wild, label), random, label)

    def _keep_score(self, guided: NDArray[np.bool_]) -> None:
        self.score += self.reward
        self.helped |= guided  # an episode that an expert drove in part is not the policy's
        self.finished = (self.finished + self.score[self.done & ~self.helped].tolist())[-20:]
        self.score[self.done], self.helped[self.done] = 0.0, False


def _like(flags: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[np.bool_]:
    return flags.reshape(-1, *[1] * (values.ndim - 1))
