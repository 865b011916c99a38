"""The embedded world: the tasks, our own physics and traffic, for a batch of worlds at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving import drivers, dynamics, expert, tasks, traffic
from wiser.envs.driving.progress import Mask, Progress, StepResult
from wiser.envs.driving.roads import Floats
from wiser.envs.driving.sensors.scene import Scene
from wiser.envs.driving.sensors.textures import Surface
from wiser.envs.driving.tasks import Task


class EmbeddedWorld:
    """B independent worlds of one task, stepped together.

    Each world owns a generator. `reset` with a seed starts it anew; without one the next episode continues its stream,
    so episode k of a world depends on its seed and nothing else, whatever the rest of the batch does.
    """

    def __init__(self, task: Task, batch: int, cars: int | None = None) -> None:
        self.task, self.batch = task, batch
        self.surface: Surface | None = None
        self.renders: tuple[str, ...] = ()
        cars = task.cars if cars is None else cars
        self.ego = np.zeros((batch, 4))  # x, y, yaw, speed
        self.velocity = np.zeros((batch, 2))
        self.traffic = drivers.make_traffic(batch, cars)
        self.progress = Progress.of(task, batch)
        self.collided, self.ttc = np.zeros(batch, np.bool_), np.full(batch, np.inf)
        self._generators = [np.random.default_rng() for _ in range(batch)]
        self._line, self._lanes = task.road_map().corridor()
        self._flow = task.flow_gap if task.flow_gap is not None else (-1.0, -1.0)
        self._waited, self._claims = np.zeros(batch), np.zeros((batch, 3))
        self._signs = np.array([[s.x, s.y, s.yaw] for s in task.road_map().signs]).reshape(-1, 3)

    def reset(self, mask: Mask, seeds: Sequence[int | None] | None = None) -> None:
        """Begin a new episode in the masked worlds; seeds has one entry per world, None to go on with its stream."""
        for b in np.flatnonzero(mask).tolist():
            seed = seeds[b] if seeds is not None else None
            if seed is not None:
                self._generators[b] = np.random.default_rng(seed)
            self._begin(b, self._generators[b])
        if self.traffic.s.shape[1]:
            traffic.populate(self.traffic, self._line, self._lanes, self.ego, *self._flow, mask)
        self._look_around()

    def _begin(self, b: int, rng: np.random.Generator) -> None:
        route = self.progress.begin(b, rng)
        self.ego[b, :3], self.ego[b, 3] = tasks.start_pose(route, rng), 0.0
        self.velocity[b], self._waited[b] = 0.0, 0.0
        self.traffic.rng[b] = rng.integers(2**63, dtype=np.uint64)

    def _look_around(self) -> None:
        t = self.traffic
        dynamics.contacts(self.ego, t.cars, t.size, t.present, self.collided, self.ttc)

    def step(self, acceleration: Floats, steer: Floats, active: Mask) -> StepResult:
        """Drive every active world for a tenth of a second, judge it. Others stay as they are; ignore their rows."""
        p, t = self.progress, self.traffic
        frozen = self.ego[~active].copy(), self.velocity[~active].copy()
        dynamics.move_ego(self.ego, self.velocity, acceleration, steer)
        self.ego[~active], self.velocity[~active] = frozen
        if t.s.shape[1]:
            drivers.indicate(self.ego, p.route, p.index, p.yields, self._waited, self._line, self._claims)
            traffic.move_traffic(t, self._line, self._lanes, self.ego, self.velocity, self._claims, *self._flow, active)
        self._look_around()
        return self.progress.judge(self.ego[:, :2], self.velocity, self.collided, active)

    def expert_commands(self) -> Floats:
        """What the scripted driver would do now: (B, 2) acceleration and steering."""
        out, p, t = np.zeros((self.batch, 2)), self.progress, self.traffic
        expert.drive(
            self.ego, t.cars, t.size, t.present, p.route, p.count, p.index, p.yields, p.route_stop, p.held, out,
        )  # fmt: skip
        return out

    def scene(self) -> Scene:
        """What the sensors may look at."""
        p, t = self.progress, self.traffic
        return Scene(
            ego=self.ego, cars=t.cars, size=t.size, paint=t.paint, present=t.present, plans=t.plans,
            route=p.visible(), signs=self._signs, owed=p.owed(len(self._signs)),
        )  # fmt: skip

    def images(self, size: int) -> dict[str, NDArray[np.uint8]]:
        """None: all sensors of this world are drawn from its scene."""
        return {}

    def close(self) -> None:
        """Nothing to let go of."""
