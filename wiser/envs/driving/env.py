"""The driving tasks as Gymnasium environments: a batch of worlds, and the ordinary single one.

Seeds: world i of a vector environment reset with seed s is the single environment reset with seed s + i, in this and
in all later episodes, byte for byte. Autoreset is NEXT_STEP: the step after an episode's end ignores the action, pays
nothing and returns the first observation of the next episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from wiser.envs.driving import dynamics, expert
from wiser.envs.driving.embedded import EmbeddedWorld
from wiser.envs.driving.progress import StepResult
from wiser.envs.driving.render import Picture
from wiser.envs.driving.sensors.suite import IMAGE_SENSORS, SENSORS, SensorSuite
from wiser.envs.driving.tasks import ACCELERATIONS, TASKS, RewardTerms, Task
from wiser.envs.driving.world import World

Observation = dict[str, NDArray[Any]]


def observation_space(sensors: Sequence[str], size: int) -> spaces.Dict:
    """The space of one world's observation."""
    image = spaces.Box(0, 255, (size, size, 3), np.uint8)
    touch = spaces.Box(0.0, 1.0, (1,), np.float32)
    return spaces.Dict({name: touch if name == "collision" else image for name in sensors})


def action_space(task: Task, continuous: bool) -> spaces.Space[Any]:
    """15 discrete actions, or acceleration (m/s^2) and steering (positive to the left)."""
    if continuous:
        high = np.array([dynamics.MAX_ACCELERATION, 1.0], np.float32)
        return spaces.Box(-high, high, dtype=np.float32)
    return spaces.Discrete(len(ACCELERATIONS) * len(task.steers))


class DrivingVectorEnv(VectorEnv[Any, Any, Any]):
    """A batch of driving worlds.

    task: a name from `TASKS`; sensors: which to observe; size: pixels per image side; continuous: two real numbers
    instead of 15 actions; cars: how many other cars (None: the task's own number); copy: whether observations are the
    caller's to keep, or views that the next step overwrites; world: a simulator for that task instead of our own.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own convention)
        "render_modes": ["rgb_array"],
        "render_fps": 10,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        task: str = "FourLane",
        sensors: Sequence[str] = SENSORS,
        size: int = 64,
        continuous: bool = False,
        cars: int | None = None,
        render_mode: str | None = None,
        copy: bool = True,
        world: World | None = None,
    ) -> None:
        self.num_envs, self.task, self.continuous, self.render_mode = num_envs, TASKS[task], continuous, render_mode
        self.world: World = EmbeddedWorld(self.task, num_envs, cars) if world is None else world
        self.sensors, self.size, self.copy = tuple(sensors), size, copy
        unknown = set(self.sensors) - set(SENSORS)
        if unknown:
            raise ValueError(f"no sensor called {', '.join(sorted(unknown))}; there are {', '.join(SENSORS)}")
        drawn = [name for name in IMAGE_SENSORS if name in self.sensors and name not in self.world.renders]
        self.suite = SensorSuite(self.task, drawn, size, self.world.surface)
        self.single_observation_space = observation_space(self.sensors, size)
        self.single_action_space = action_space(self.task, continuous)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.returns = np.zeros(num_envs)
        self._images = self.suite.empty(num_envs)
        self._done = np.zeros(num_envs, np.bool_)
        self._terms = RewardTerms(*np.zeros((len(RewardTerms._fields), num_envs)))
        self._picture: Picture | None = None

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin new episodes: seed s gives world i the seed s + i; None goes on with each world's own stream."""
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int | np.integer) else seed
        mask = np.ones(self.num_envs, np.bool_) if options is None else options.get("reset_mask", True)
        mask = np.broadcast_to(np.asarray(mask, np.bool_), (self.num_envs,)).copy()
        self.world.reset(mask, seeds)
        self._done[mask], self.returns[mask] = False, 0.0
        self._terms = RewardTerms(*np.zeros((len(RewardTerms._fields), self.num_envs)))
        return self.observe(), {"speed": self.world.ego[:, 3].copy(), "ttc": self.world.ttc.copy()}

    def step(
        self, actions: Any
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Drive for a tenth of a second; worlds whose episode is over begin the next one instead."""
        active = ~self._done
        acceleration, steer = dynamics.decode_actions(self.task, np.asarray(actions), self.continuous)
        result = self.world.step(acceleration, steer, active)
        reward = np.where(active, result.terms.total(), 0.0)
        terminated, truncated = result.terminated & active, result.truncated & active
        self._terms, self.returns = result.terms, np.where(active, self.returns + reward, 0.0)
        if not active.all():
            self.world.reset(~active)
        self._done = terminated | truncated
        return self.observe(), reward, terminated, truncated, self._info(result, active)

    def _info(self, result: StepResult, active: NDArray[np.bool_]) -> dict[str, Any]:
        happened = result.outcome
        values: dict[str, NDArray[Any]] = {
            "success": happened.success() & active,
            "collision": happened.collision & active,
            "off_route": happened.off_route & active,
            "stop_violation": happened.stop_violation & active,
            "speed": self.world.ego[:, 3].copy(),
            "ttc": self.world.ttc.copy(),
        }
        terms = {name: np.where(active, value, 0.0) for name, value in result.terms._asdict().items()}
        return {**values, "reward_terms": terms, **{f"_{name}": active for name in (*values, "reward_terms")}}

    def observe(self) -> Observation:
        """What the sensors see now."""
        images = self.suite.draw(self.world.scene(), self._images) if self.suite.names else self._images
        views: Observation = {
            **self.suite.split(images.copy() if self.copy else images),
            **self.world.images(self.size),
        }
        if "collision" in self.sensors:
            views["collision"] = self.world.collided.astype(np.float32)[:, None]
        return {name: views[name] for name in self.sensors}

    def expert_actions(self) -> NDArray[Any]:
        """What the scripted driver would do now, as actions of this environment."""
        commands = self.world.expert_commands()
        return commands.astype(np.float32) if self.continuous else expert.to_discrete(commands, self.task.steers)

    def expert_policy(self) -> NDArray[np.float32]:
        """The scripted driver's command as probabilities of the discrete actions, (B, 15)."""
        return expert.to_probabilities(self.world.expert_commands(), self.task.steers)

    def render(self) -> Any:
        """A large picture of every world, for people: a tuple of (540, 960, 3) arrays."""
        self._picture = self._picture or Picture(self.task, self.world.surface, self.world.renders)
        terms = [{name: float(value[b]) for name, value in self._terms._asdict().items()} for b in range(self.num_envs)]
        return tuple(self._picture.draw(self.world, b, float(self.returns[b]), terms[b]) for b in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of what the simulator holds."""
        self.world.close()


class DrivingEnv(gymnasium.Env[Any, Any]):
    """One driving world: a batch of one, with Gymnasium's ordinary interface. Arguments as in `DrivingVectorEnv`."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, task: str = "FourLane", render_mode: str | None = None, **options: Any) -> None:
        self.batch = DrivingVectorEnv(1, task, render_mode=render_mode, **options)
        self.render_mode = render_mode
        self.observation_space = self.batch.single_observation_space
        self.action_space = self.batch.single_action_space
        self._over = True  # nothing has begun yet

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a new episode; without a seed the next one of the current stream."""
        super().reset(seed=seed)
        self._over = False
        observation, info = self.batch.reset(seed=seed)
        return _first(observation), _first(info)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Drive for a tenth of a second."""
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() first")
        observation, reward, terminated, truncated, info = self.batch.step(np.asarray(action)[None])
        self._over = bool(terminated[0] or truncated[0])
        info = {name: value for name, value in info.items() if not name.startswith("_")}
        return _first(observation), float(reward[0]), bool(terminated[0]), bool(truncated[0]), _first(info)

    def expert_action(self) -> Any:
        """What the scripted driver would do now."""
        return self.batch.expert_actions()[0]

    def render(self) -> Any:
        """A large picture for people: (540, 960, 3)."""
        return self.batch.render()[0]

    def close(self) -> None:
        """Let go of what the simulator holds."""
        self.batch.close()


def _first(values: dict[str, Any]) -> dict[str, Any]:
    """The first row of every array in a dictionary, scalars as plain Python numbers."""
    rows = {name: _first(value) if isinstance(value, dict) else value[0] for name, value in values.items()}
    return {name: row.item() if isinstance(row, np.generic) else row for name, row in rows.items()}
