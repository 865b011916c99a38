"""Any Gymnasium environment as a batch of rows with Dict observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium as gym
from gymnasium.vector import AutoresetMode, VectorWrapper

from wiser.envs.domain import Rows, domain_of, spec_of
from wiser.interrupts import interrupts_wait

ONLY = "observation"
"""Name of the sensor of an environment that has only one and no name for it."""


def make_rows(
    env: str,
    rows: int,
    sensors: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    processes: bool = False,
    pictures: bool = False,
) -> Rows:
    """Make `rows` environments with Dict observations that begin the next episode by themselves (NEXT_STEP).

    By the id's own vector form if there is one; else stepped one after another, or each in a process of its own. Only
    `sensors` are observed, or all without any. `options` go to the environment. With `pictures` it is made to draw
    itself for people, where it can.
    """
    kwargs, wanted = dict(options or {}), tuple(sensors)
    if wanted and domain_of(env).chooses_sensors:
        kwargs["sensors"], wanted = wanted, ()
    spec = spec_of(env)
    try:
        made = _make(spec, rows, wanted, processes, kwargs | ({"render_mode": "rgb_array"} if pictures else {}))
    except (gym.error.Error, ImportError, TypeError, ValueError) as error:
        if pictures and not isinstance(error, ImportError):  # it may draw nothing
            return make_rows(env, rows, sensors, options, processes)
        raise ValueError(f"cannot make {env}: {error}") from error
    if made.metadata.get("autoreset_mode") != AutoresetMode.NEXT_STEP:
        raise ValueError(f"environments are stepped with autoreset NEXT_STEP, {env} has another mode")
    return made


def _make(spec: Any, rows: int, sensors: tuple[str, ...], processes: bool, kwargs: dict[str, Any]) -> Rows:
    if spec.vector_entry_point is not None and not processes:
        made = gym.make_vec(spec, rows, vectorization_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT, **kwargs)
        if isinstance(made.single_observation_space, gym.spaces.Dict):
            return made
        made.close()  # its single environments can be wrapped
    wrappers: Any = [partial(as_sensors, names=sensors)]
    if not processes:
        return gym.make_vec(spec, rows, vectorization_mode=gym.VectorizeMode.SYNC, wrappers=wrappers, **kwargs)
    with interrupts_wait():
        made = gym.make_vec(spec, rows, vectorization_mode=gym.VectorizeMode.ASYNC, wrappers=wrappers, **kwargs)
    return InProcesses(made, spec.id)


class InProcesses(VectorWrapper[Any, Any, Any, Any, Any]):
    """Environments in processes of their own: if one of them fails all are ended, and a RuntimeError says why."""

    def __init__(self, env: Rows, name: str) -> None:
        super().__init__(env)
        self.name = name

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        """Reset all of them."""
        return self._ask(partial(self.env.reset, seed=seed, options=options))

    def step(self, actions: Any) -> Any:
        """Step all of them."""
        return self._ask(partial(self.env.step, actions))

    def _ask(self, do: Callable[[], Any]) -> Any:
        try:
            return do()
        except Exception as error:
            self._end()
            died = isinstance(error, EOFError | ConnectionError)
            why = "its process died" if died else f"{type(error).__name__}: {error}"
            raise RuntimeError(f"{self.name} failed in a process of its own: {why}") from error

    def _end(self) -> None:
        """Gymnasium would ask the processes to close, and wait for an answer of the one that is no more."""
        made: Any = self.env.unwrapped
        for process in made.processes:
            process.terminate()
            process.join()
        made.closed = True


def as_sensors(env: gym.Env[Any, Any], names: Sequence[str] = ()) -> gym.Env[Any, Any]:
    """An environment whose observation is a Dict of sensors: a single Box becomes the one sensor `observation`."""
    if isinstance(env.observation_space, gym.spaces.Box):
        space = gym.spaces.Dict({ONLY: env.observation_space})
        env = gym.wrappers.TransformObservation(env, lambda reading: {ONLY: reading}, space)
    if not isinstance(env.observation_space, gym.spaces.Dict):
        raise ValueError(f"observations must be a Dict of sensors or one Box, got {env.observation_space}")
    if missing := [name for name in names if name not in env.observation_space.spaces]:
        raise ValueError(f"no sensor called {', '.join(missing)}; there are {', '.join(env.observation_space.spaces)}")
    if names:
        env = gym.wrappers.FilterObservation(env, tuple(names))
    return env
