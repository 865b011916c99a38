"""What the environments ask of a simulator, and all they ask: the embedded world and CARLA both answer to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.progress import Mask, Progress, StepResult
from wiser.envs.driving.roads import Floats
from wiser.envs.driving.sensors.scene import Scene
from wiser.envs.driving.sensors.textures import Surface
from wiser.envs.driving.tasks import Task


class World(Protocol):
    """B worlds of one task. Units and axes as in `roads`."""

    task: Task
    batch: int
    ego: Floats  # (B, 4) x, y, yaw, speed
    velocity: Floats  # (B, 2)
    progress: Progress
    collided: Mask  # (B,)
    ttc: Floats  # (B,) seconds to collision, or inf
    surface: Surface | None  # the roads to draw, or None for those of the task's own map
    renders: tuple[str, ...]  # sensors whose images the simulator makes itself

    def reset(self, mask: Mask, seeds: Sequence[int | None] | None = None) -> None:
        """Begin a new episode in the masked worlds; a seed of None goes on with the world's stream."""

    def step(self, acceleration: Floats, steer: Floats, active: Mask) -> StepResult:
        """Drive the active worlds for a tenth of a second: (B,) m/s^2, and -1 to 1, positive to the left."""

    def expert_commands(self) -> Floats:
        """What the scripted driver would do now: (B, 2) acceleration and steering."""

    def scene(self) -> Scene:
        """What the sensors may look at."""

    def images(self, size: int) -> dict[str, NDArray[np.uint8]]:
        """The images of the sensors in `renders`: (B, size, size, 3) each."""

    def close(self) -> None:
        """Let go of whatever the simulator holds. Harmless when repeated."""
