"""Gathering experience: many environments stepped as one batch, one batched policy call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import Any
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wiser.envs.domain import Rows
from wiser.envs.vector import make_rows
from wiser.guard import Guard
from wiser.guard.actions import to_environment
from wiser.train.config import TrainConfig
from wiser.train.experience import SENSOR, SIGNAL, pack_belief
from wiser.train.objectives import find_objective
from wiser.train.replay import Replay
from wiser.train.returns import Returns
from wiser.train.teaching import Guide, find_teacher, is_taught
from wiser.worldmodel import Actions, Sensor, sensors_of
from wiser.worldmodel.dreamer import DreamerV3


def make_env(config: TrainConfig, rows: int) -> Rows:
    """Build the run's environment as a batch of `rows`."""
    if not config.env:
        raise ValueError("name an environment (--env ID), or a preset that has one: wiser train --help lists them")
    return make_rows(config.env, rows, config.sensors, config.env_options, config.processes)


def describe(config: TrainConfig) -> tuple[tuple[Sensor, ...], Actions]:
    """Sensors the run uses, all of them unless it names some, and the actions."""
    with closing(make_env(config, 1)) as env:
        if is_taught(config):
            find_teacher(config, env)
        sensors, actions = sensors_of(env.single_observation_space), Actions.from_space(env.single_action_space)
    if config.sensors:
        there = [sensor.name for sensor in sensors]
        if absent := [name for name in config.sensors if name not in there]:
            raise ValueError(f"{config.env} has no sensor {absent[0]!r}; there are {', '.join(there)}")
        sensors = tuple(sensor for sensor in sensors if sensor.name in config.sensors)
    return sensors, actions


class Collector:
    """Steps the environments with the policy, or a mixture of it and the environment's expert, and fills the replay.

    The environments of a collector are fixed by its seed and the actions taken, which it remembers: `restore` brings a
    new collector where another one was, whatever kind of environment it is.
    """

    def __init__(self, config: TrainConfig, model: DreamerV3, replay: Replay, seed: int) -> None:
        self.config, self.replay, self.seed = config, replay, seed
        self.signals = find_objective(config.objective).signals
        self.guard = Guard(model, "none", rows=config.rows, sample_actions=True, seed=seed)
        with ExitStack() as on_error:
            self.env = on_error.enter_context(closing(make_env(config, config.rows)))
            self.guide = Guide(config, self.env, model.actions, seed) if is_taught(config) else None
            self._begin()
            on_error.pop_all()

    def _begin(self) -> None:
        rows = self.config.rows
        self.obs, _ = self.env.reset(seed=self.seed)
        self.first, self.done = np.ones(rows, bool), np.zeros(rows, bool)
        self.action = np.zeros_like(self.env.action_space.sample()) + self.guard.model.actions.start
        self.received, self.proceed = {name: np.zeros(rows, np.float32) for name in self.signals}, np.ones(rows, bool)
        self.returns = Returns(self.config.env, self.signals, rows)
        self.taken: list[NDArray[Any]] = []

    def step(self, expert_share: float = 0.0) -> None:
        """Act once in every environment. The first `expert_share` of the rows follow the expert, where there is one.

        The last `greedy_share` of the rows act greedily: the states a policy gets stuck in are then seen in training.
        """
        rows = self.config.rows
        chosen, _ = self.guard.act(self.obs, self.first)
        if greedy_rows := round(self.config.greedy_share * rows):
            chosen[rows - greedy_rows :] = self._greedy()[rows - greedy_rows :]
        guided = np.zeros(rows, bool)
        lesson: dict[str, NDArray[Any]] = {}
        if self.guide is not None:
            chosen, guided, lesson = self.guide.lead(chosen, expert_share)
        self.guard.executed(chosen)
        self._store(lesson)
        self._advance(chosen)
        self.returns.add(self.received, guided, self.done)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """What `restore` needs: tensors by name, and plain values."""
        tensors, draws = self.guard.state()
        about = {
            "seed": self.seed,
            "draws": draws,
            "guide": self.guide and self.guide.rng.bit_generator.state,
            "returns": self.returns.state(),
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
        if self.guide is not None:
            self.guide.rng.bit_generator.state = about["guide"]
        self.returns.restore(about["returns"])

    def close(self) -> None:
        """Let go of the environments."""
        self.env.close()

    def _advance(self, chosen: NDArray[Any]) -> None:
        self.taken.append(chosen)
        self.obs, reward, terminated, truncated, info = self.env.step(chosen)
        self.first, self.done = self.done, terminated | truncated  # the step after an end begins the next episode
        self.action, self.proceed = chosen, ~terminated
        told = {**info, "reward": reward}
        self.received = {name: self._signal(name, told) for name in self.signals}

    def _signal(self, name: str, told: Mapping[str, Any]) -> NDArray[np.float32]:
        if name in told:
            return np.asarray(told[name], np.float32)
        if self.first.all():  # nothing was done yet in any row
            return np.zeros(self.config.rows, np.float32)
        wanted = f"which the objective {self.config.objective!r} learns from"
        raise ValueError(f"{self.config.env} does not tell its {name!r} in info, {wanted}")

    def _fingerprint(self) -> int:
        names = [sensor.name for sensor in self.guard.model.sensors]
        return crc32(b"".join(np.ascontiguousarray(self.obs[name]).tobytes() for name in names))

    def _greedy(self) -> NDArray[Any]:
        model = self.guard.model
        with torch.no_grad():
            return to_environment(model.act(self.guard.belief), model.actions).cpu().numpy()

    def _store(self, lesson: Mapping[str, NDArray[Any]]) -> None:
        scales = {"reward": self.config.reward_scale}
        self.replay.add(
            {
                **{SENSOR + sensor.name: self.obs[sensor.name] for sensor in self.guard.model.sensors},
                **{SIGNAL + name: value * scales.get(name, 1.0) for name, value in self.received.items()},
                "action": self.action,
                "first": self.first,
                "proceed": self.proceed,
                **pack_belief(self.guard.belief),
                **lesson,
            },
            self.config.length,
        )
