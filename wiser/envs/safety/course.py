"""The package's tasks without pictures: its physics, its rewards and its costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.safety.names import REPEAT, TASKS
from wiser.envs.safety.package import Builder, get_task_class_name, tasks, world
from wiser.envs.safety.skybox import small_world
from wiser.envs.safety.swift import swift

_PACKAGE = Path(world.BASE_DIR)


class Simulation(Builder):
    """The package's environment, which observes nothing and is quicker."""

    def _get_task(self) -> Any:
        with np.errstate(over="ignore"):  # Gymnasium stumbles over the precision of the package's own action space
            return swift(getattr(tasks, get_task_class_name(self.task_id)))(config=self.config)

    def set_seed(self, seed: int = 0) -> None:
        """Begin the layouts of a seed; the package would draw one from NumPy's global generator."""
        super().set_seed(seed)


class Passage(NamedTuple):
    """What came of one action."""

    reward: float
    cost: float
    goals: int
    """Reached, or buttons pressed."""
    terminated: bool
    truncated: bool


class Course:
    """One of the tasks, where every action is repeated: rewards and costs add up."""

    def __init__(self, name: str, repeat: int = REPEAT) -> None:
        if name not in TASKS:
            raise ValueError(f"no task {name!r} of Safety Gymnasium; there are {', '.join(TASKS)}")
        if repeat < 1:
            raise ValueError(f"every action is taken at least once, got repeat {repeat}")
        world.BASE_DIR = str(small_world(_PACKAGE))
        self.robot = "Car" if "Car" in name else "Point"
        self.repeat = repeat
        self.simulation = Simulation(f"{name}-v0", {"agent_name": self.robot})

    @property
    def task(self) -> Any:
        """What the package knows of the world: robot, obstacles, goal, model and data."""
        return self.simulation.task

    @property
    def position(self) -> NDArray[np.float64]:
        """Of the robot, (3,)."""
        return np.asarray(self.task.agent.pos)

    @property
    def forward(self) -> NDArray[np.float64]:
        """Where the robot's front points to, (3,): the point's x axis; the car drives along -y."""
        axes = self.task.agent.mat
        return np.asarray(-axes[:, 1] if self.robot == "Car" else axes[:, 0])

    def begin(self, seed: int | None) -> None:
        """Begin the first episode of a seed, or the next one without."""
        self.simulation.reset(seed=seed)

    def act(self, action: NDArray[np.float64]) -> Passage:
        """Take an action until it was repeated often enough or the episode is over."""
        reward, cost, goals, terminated, truncated = 0.0, 0.0, 0, False, False
        for _ in range(self.repeat):
            _, paid, harm, terminated, truncated, info = self.simulation.step(action)
            reward, cost, goals = reward + float(paid), cost + float(harm), goals + int(info.get("goal_met", False))
            if terminated or truncated:
                break
        return Passage(reward, cost, goals, bool(terminated), bool(truncated))
