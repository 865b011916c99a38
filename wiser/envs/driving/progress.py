"""Where each ego is in its episode, and what its last step was worth: the same rules whoever moves the cars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving import tasks
from wiser.envs.driving.roads import Floats
from wiser.envs.driving.tasks import Outcome, RewardTerms, Route, Task

Mask = NDArray[np.bool_]
MAX_WAYPOINTS, MAX_YIELDS = 280, 12


class StepResult(NamedTuple):
    """What a step brought."""

    terms: RewardTerms
    outcome: Outcome
    terminated: Mask
    truncated: Mask


@dataclass
class Progress:
    """The episodes of B worlds of one task; arrays over worlds."""

    task: Task
    route: Floats  # (B, MAX_WAYPOINTS, 3) x, y, yaw
    count: NDArray[np.int64]  # (B,) waypoints of the route
    index: NDArray[np.int64]  # (B,) the next waypoint
    yields: NDArray[np.int64]  # (B, MAX_YIELDS, 2) where the route cuts into other lanes; -1 where unused
    route_stop: NDArray[np.int64]  # (B,) waypoint nearest the stop point, -1 without one
    held: NDArray[np.int64]  # (B,) steps spent at the stop point
    steps: NDArray[np.int64]  # (B,)

    @classmethod
    def of(cls, task: Task, batch: int) -> Progress:
        """Worlds whose episodes have yet to begin."""
        return cls(
            task,
            route=np.zeros((batch, MAX_WAYPOINTS, 3)),
            yields=np.full((batch, MAX_YIELDS, 2), -1),
            **{name: np.zeros(batch, np.int64) for name in ("count", "index", "route_stop", "held", "steps")},
        )

    def begin(self, b: int, rng: np.random.Generator) -> Route:
        """Draw the route of a new episode in world b."""
        route = tasks.build_route(self.task, rng)
        count, yields = len(route.waypoints), len(route.yields)
        self.route[b, :count], self.route[b, count:] = route.waypoints, route.waypoints[-1]
        self.yields[b] = -1
        self.yields[b, :yields] = route.yields
        self.count[b], self.index[b], self.held[b], self.steps[b] = count, 1, 0, 0
        self.route_stop[b] = -1
        if self.task.stop_point is not None:
            self.route_stop[b] = np.hypot(*(route.waypoints[:, :2] - self.task.stop_point).T).argmin()
        return route

    def judge(self, xy: Floats, velocity: Floats, collided: Mask, active: Mask) -> StepResult:
        """Take a step's result into account: xy and velocity (B, 2). Rows that are not active keep their progress."""
        index = tasks.advance_progress(self.route, self.count, self.index, xy)
        completed = index - self.index
        held, violated = tasks.hold_at_stop(self.task.stop_point, self.route_stop, self.held, index, xy)
        self.index[active], self.held[active] = index[active], held[active]
        self.steps[active] += 1
        waypoint = tasks.next_waypoint(self.route, self.count, self.index)
        happened = tasks.outcome(waypoint, self.count - self.index, xy, collided.copy(), violated)
        terms = tasks.reward_terms(happened, completed, waypoint, xy, velocity)
        terminated = happened.terminal()
        return StepResult(terms, happened, terminated, (self.steps >= tasks.TIME_LIMIT) & ~terminated)

    def visible(self) -> Floats:
        """The part of each route that sensors show: (B, V, 2)."""
        shown = np.minimum(self.index[:, None] + np.arange(tasks.WAYPOINTS_VISIBLE), self.count[:, None] - 1)
        return np.take_along_axis(self.route, shown[:, :, None], axis=1)[..., :2]

    def owed(self, signs: int) -> Mask:
        """Whether each ego has yet to hold at the task's signs: (B, signs)."""
        return np.repeat((self.held < tasks.STOP_STEPS)[:, None], signs, axis=1)
