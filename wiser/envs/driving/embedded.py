"""The embedded world: the tasks, our own physics and traffic, for a batch of worlds at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving import drivers, dynamics, expert, tasks, traffic
from wiser.envs.driving.roads import Floats
from wiser.envs.driving.sensors.scene import Scene
from wiser.envs.driving.tasks import Outcome, RewardTerms, Task

Mask = NDArray[np.bool_]
MAX_WAYPOINTS, MAX_YIELDS = 280, 12


@dataclass
class Progress:
    """Where each ego is in its episode; arrays over B worlds."""

    route: Floats  # (B, MAX_WAYPOINTS, 3) x, y, yaw
    count: NDArray[np.int64]  # (B,) waypoints of the route
    index: NDArray[np.int64]  # (B,) the next waypoint
    yields: NDArray[np.int64]  # (B, MAX_YIELDS, 2) where the route cuts into other lanes; -1 where unused
    route_stop: NDArray[np.int64]  # (B,) waypoint nearest the stop point, -1 without one
    held: NDArray[np.int64]  # (B,) steps spent at the stop point
    steps: NDArray[np.int64]  # (B,)


class StepResult(NamedTuple):
    """What a step brought."""

    terms: RewardTerms
    outcome: Outcome
    terminated: Mask
    truncated: Mask


class EmbeddedWorld:
    """B independent worlds of one task, stepped together.

    Each world owns a generator. `reset` with a seed starts it anew; without one the next episode continues its stream,
    so episode k of a world depends on its seed and nothing else, whatever the rest of the batch does.
    """

    def __init__(self, task: Task, batch: int, cars: int | None = None) -> None:
        self.task, self.batch = task, batch
        cars = task.cars if cars is None else cars
        self.ego = np.zeros((batch, 4))  # x, y, yaw, speed
        self.velocity = np.zeros((batch, 2))
        self.traffic = drivers.make_traffic(batch, cars)
        self.progress = Progress(
            route=np.zeros((batch, MAX_WAYPOINTS, 3)),
            yields=np.full((batch, MAX_YIELDS, 2), -1),
            **{name: np.zeros(batch, np.int64) for name in ("count", "index", "route_stop", "held", "steps")},
        )
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
        route, p = tasks.build_route(self.task, rng), self.progress
        count, yields = len(route.waypoints), len(route.yields)
        p.route[b, :count], p.route[b, count:] = route.waypoints, route.waypoints[-1]
        p.yields[b] = -1
        p.yields[b, :yields] = route.yields
        p.count[b], p.index[b], p.held[b], p.steps[b] = count, 1, 0, 0
        p.route_stop[b] = -1
        if self.task.stop_point is not None:
            p.route_stop[b] = np.hypot(*(route.waypoints[:, :2] - self.task.stop_point).T).argmin()
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
        xy = self.ego[:, :2]
        index = tasks.advance_progress(p.route, p.count, p.index, xy)
        completed = index - p.index
        held, violated = tasks.hold_at_stop(self.task.stop_point, p.route_stop, p.held, index, xy)
        p.index[active], p.held[active] = index[active], held[active]
        p.steps[active] += 1
        waypoint = tasks.next_waypoint(p.route, p.count, p.index)
        happened = tasks.outcome(waypoint, p.count - p.index, xy, self.collided.copy(), violated)
        terms = tasks.reward_terms(happened, completed, waypoint, xy, self.velocity)
        terminated = happened.terminal()
        return StepResult(terms, happened, terminated, (p.steps >= tasks.TIME_LIMIT) & ~terminated)

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
        shown = np.minimum(p.index[:, None] + np.arange(tasks.WAYPOINTS_VISIBLE), p.count[:, None] - 1)
        return Scene(
            ego=self.ego, cars=t.cars, size=t.size, paint=t.paint, present=t.present, plans=t.plans,
            route=np.take_along_axis(p.route, shown[:, :, None], axis=1)[..., :2],
            signs=self._signs,
            owed=np.repeat((p.held < tasks.STOP_STEPS)[:, None], len(self._signs), axis=1),
        )  # fmt: skip
