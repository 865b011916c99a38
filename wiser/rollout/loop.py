"""Look, judge, act: the closed loop of an environment and a guard, as an iterator of moments.

Scoring during training, calibration, evaluation, recordings, the cockpit and the demo all walk along this one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.domain import Rows, View
from wiser.guard import Guard, Verdict
from wiser.worldmodel.protocol import Belief

Obs = Mapping[str, Any]
Prepare = Callable[[Obs], Obs]


class Moment(NamedTuple):
    """One step of all rows."""

    obs: Obs
    """What the guard was given."""
    first: NDArray[np.bool_]
    """(B,): rows whose observation begins an episode."""
    verdict: Verdict
    """What the guard made of it."""
    belief: Belief
    """What it then believed."""
    intensity: NDArray[np.float32]
    """(B, N): the truth: how badly each sensor of the agent was broken, 0 if not at all."""
    action: NDArray[Any]
    """(B, ...): what was done."""
    reward: NDArray[Any]
    """(B,): what that earned."""
    terminated: NDArray[np.bool_]
    """(B,): rows whose episode ended for good."""
    truncated: NDArray[np.bool_]
    """(B,): rows whose episode was cut off."""
    info: Mapping[str, Any]
    """What the environment said after the action."""
    pictures: Mapping[int, NDArray[Any] | None]
    """Of the rows that somebody wants to see: the world as it was when it was observed."""

    @property
    def broken(self) -> NDArray[np.bool_]:
        """(B, N): sensors that were broken."""
        return self.intensity > 0

    @property
    def done(self) -> NDArray[np.bool_]:
        """(B,): rows whose episode is over."""
        return self.terminated | self.truncated


def drive(
    env: Rows, guard: Guard, seed: int | None, prepare: Prepare | None = None, views: Mapping[int, View] | None = None
) -> Iterator[Moment]:
    """Reset the environment, then act in it for ever; rows begin their next episodes by themselves.

    What a caller does to the environment between two moments, such as breaking a sensor, shows in the next observation
    that is made; the first one is made at once.
    """
    return _act(env, guard, *env.reset(seed=seed), prepare, views)


def _act(
    env: Rows,
    guard: Guard,
    obs: Obs,
    info: Mapping[str, Any],
    prepare: Prepare | None,
    views: Mapping[int, View] | None,
) -> Iterator[Moment]:
    first, over = np.ones(env.num_envs, bool), np.zeros(env.num_envs, bool)
    while True:
        moment, obs = step(env, guard, obs, info, first, prepare, views)
        info = moment.info
        yield moment
        # Autoreset is NEXT_STEP: the last observation of an episode is looked at, the step after it begins the next.
        first, over = over, moment.done


def step(
    env: Rows,
    guard: Guard,
    obs: Obs,
    info: Mapping[str, Any],
    first: NDArray[np.bool_],
    prepare: Prepare | None = None,
    views: Mapping[int, View] | None = None,
) -> tuple[Moment, Obs]:
    """Look at an observation, act, and see what comes of it; returns the next observation, too."""
    seen = obs if prepare is None else prepare(obs)
    intensity = true_intensity(env, info, guard.sensor_names)
    pictures = {row: draw() for row, draw in (views or {}).items()}
    action, verdict = guard.act(seen, first)
    following, reward, terminated, truncated, told = env.step(action)
    moment = Moment(
        seen, first, verdict, guard.belief, intensity, action, reward, np.asarray(terminated, bool),
        np.asarray(truncated, bool), told, pictures,
    )  # fmt: skip
    return moment, following


def true_intensity(env: Rows, info: Mapping[str, Any], sensors: tuple[str, ...]) -> NDArray[np.float32]:
    """How badly each of `sensors` is broken (B, N), as a disturbed environment tells it; 0 in an undisturbed one."""
    truth = np.zeros((env.num_envs, len(sensors)), np.float32)
    known: tuple[str, ...] = getattr(env, "sensor_names", ())
    if "fault_intensity" in info:
        for column, name in enumerate(sensors):
            if name in known:
                truth[:, column] = info["fault_intensity"][:, known.index(name)]
    return truth
