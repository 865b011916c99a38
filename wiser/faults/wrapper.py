"""The Gymnasium wrapper that breaks the sensors of an environment, single or vectorised, as a scenario says."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from wiser.faults.absence import absent_rows, mask_rows
from wiser.faults.breakable import Breakable
from wiser.faults.row import RowFaults
from wiser.faults.scenario import Scenario

Obs = dict[str, Any]
Info = dict[str, Any]


class SensorFaults(Breakable, gym.Wrapper[Obs, Any, Obs, Any], RecordConstructorArgs):
    """Break the sensors of an environment with Dict observations as a scenario says.

    Given a vector environment this makes a `VectorSensorFaults`. The observation never tells what is broken; `info`
    does: `broken_sensors` (N,) bool and `fault_intensity` (N,), columns as in `sensor_names`; with a leading B for
    vector environments. A missing sensor is absent from the observation.

    All that is random follows from the scenario's seed, the row and the number of episodes the row has begun, and from
    nothing else: row i of a vector environment breaks exactly as a single environment wrapped with `row=i`.

    Args:
        env: the environment, single or vector.
        scenario: what breaks, or the same as a mapping.
        row: the index of this environment (of its first row) among those that run side by side.
    """

    def __new__(cls, env: Any = None, *args: Any, **kwargs: Any) -> Any:
        """The wrapper that fits the environment."""
        if isinstance(env, VectorEnv):
            return VectorSensorFaults(env, *args, **kwargs)
        return super().__new__(cls)

    def __init__(
        self, env: gym.Env[Obs, Any] | VectorEnv[Obs, Any, Any], scenario: Scenario | Mapping[str, Any], row: int = 0
    ) -> None:
        assert not isinstance(env, VectorEnv)  # `__new__` has seen to that
        plain = scenario.to_dict() if isinstance(scenario, Scenario) else dict(scenario)
        RecordConstructorArgs.__init__(self, scenario=plain, row=row)
        gym.Wrapper.__init__(self, env)
        self._set_up(env.observation_space, scenario, row, rows=1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        """Begin an episode: its first observation is step 0 and may be broken already."""
        obs, info = self.env.reset(seed=seed, options=options)
        self._rows[0].begin()
        return self._break(obs, info)

    def step(self, action: Any) -> tuple[Obs, Any, bool, bool, Info]:
        """Step the environment and break what it observes."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        obs, info = self._break(obs, info)
        return obs, reward, terminated, truncated, info

    def _break(self, obs: Obs, info: Info) -> tuple[Obs, Info]:
        faults = self._rows[0]
        faults.observe(obs)
        return _replace(obs, faults.changed), {**info, **_truth(faults.intensity)}


class VectorSensorFaults(Breakable, VectorWrapper[Obs, Any, Obs, Any, NDArray[Any]]):
    """`SensorFaults` for vector environments of every autoreset mode, best made by that name.

    A sensor that is missing in all rows is absent from the observation; in some, it is a masked array with those rows
    masked (`absent_rows` finds them). `final_obs` of mode SAME_STEP is broken like any other observation.
    """

    def __init__(self, env: VectorEnv[Obs, Any, Any], scenario: Scenario | Mapping[str, Any], row: int = 0) -> None:
        super().__init__(env)
        if "autoreset_mode" not in env.metadata:
            raise ValueError(
                f'SensorFaults needs to know when rows begin anew: {env} has no metadata["autoreset_mode"]'
            )
        self._autoreset = AutoresetMode(env.metadata["autoreset_mode"])
        self._set_up(env.single_observation_space, scenario, row, env.num_envs)
        self._done = np.zeros(env.num_envs, bool)  # (B,)

    def assign(self, row: int, scenario: Scenario, number: int) -> None:
        """Let a row follow another scenario, as if it were the `number`-th; it must begin an episode next."""
        self._rows[row] = RowFaults(scenario, self._signals, self._candidates(scenario), number)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        """Begin an episode in all rows, or in those of `options["reset_mask"]`; the others repeat their last frame."""
        mask = (options or {}).get("reset_mask")  # read first: the environment may take it out of the options
        begins = np.ones(self.num_envs, bool) if mask is None else np.array(mask, bool)  # (B,)
        obs, info = self.env.reset(seed=seed, options=options)
        self._observe(obs, rows=begins, begins=begins)
        self._done &= ~begins
        return self._merge(obs), self._with_truth(info)

    def step(self, actions: Any) -> tuple[Obs, NDArray[Any], NDArray[Any], NDArray[Any], Info]:
        """Step all rows and break what they observe."""
        obs, rewards, terminated, truncated, info = self.env.step(actions)
        done = np.logical_or(terminated, truncated)  # (B,)
        begins = np.zeros(self.num_envs, bool)  # (B,)
        if self._autoreset == AutoresetMode.NEXT_STEP:
            begins = self._done
        elif self._autoreset == AutoresetMode.SAME_STEP:
            begins = done
            info = self._break_final(info)
        self._observe(obs, rows=np.ones(self.num_envs, bool), begins=begins)
        self._done = done
        return self._merge(obs), rewards, terminated, truncated, self._with_truth(info)

    def _observe(self, obs: Obs, rows: NDArray[np.bool_], begins: NDArray[np.bool_]) -> None:
        sensors = {name: obs[name] for name in self.sensor_names if name in obs}
        absent = {name: absent_rows(values) for name, values in sensors.items()}  # (B,) each
        for row in np.flatnonzero(rows):
            if begins[row]:
                self._rows[row].begin()
            self._rows[row].observe({name: x[row] for name, x in sensors.items() if not absent[name][row]})

    def _merge(self, obs: Obs) -> Obs:
        """The observation with the changed rows in it; sensors without any are passed on as they are, not copied."""
        merged = dict(obs)
        for name in self.sensor_names:
            changed = {row: faults.changed[name] for row, faults in enumerate(self._rows) if name in faults.changed}
            if not changed:
                continue
            values, absent = np.array(obs[name]), absent_rows(obs[name])  # (B, ...), (B,)
            for row, frame in changed.items():
                if frame is None:
                    absent[row] = True
                else:
                    values[row] = frame
            if absent.all():
                del merged[name]
            else:
                merged[name] = mask_rows(values, absent) if absent.any() else values
        return merged

    def _break_final(self, info: Info) -> Info:
        """The last observations of episodes that ended in this step, which Gymnasium keeps in `info`."""
        if "final_obs" not in info:
            return info
        final, ended = info["final_obs"].copy(), info["_final_obs"]  # (B,) of dicts, (B,)
        intensity = np.zeros((self.num_envs, len(self.sensor_names)), np.float32)  # (B, N)
        for row in np.flatnonzero(ended):
            faults = self._rows[row]
            faults.observe(final[row])
            final[row] = _replace(final[row], faults.changed)
            intensity[row] = faults.intensity
        final_info = {**info.get("final_info", {}), **_truth(intensity, ended)}
        return {**info, "final_obs": final, "final_info": final_info, "_final_info": ended}

    def _with_truth(self, info: Info) -> Info:
        intensity = np.stack([faults.intensity for faults in self._rows])  # (B, N)
        return {**info, **_truth(intensity, np.ones(self.num_envs, bool))}


def _replace(obs: Obs, changed: Mapping[str, NDArray[Any] | None]) -> Obs:
    """The observation of one row with its changed frames, without its missing ones."""
    replaced = {**obs, **changed}
    return {name: value for name, value in replaced.items() if value is not None}


def _truth(intensity: NDArray[np.float32], rows: NDArray[np.bool_] | None = None) -> Info:
    """What is broken now; `rows` (B,) are those of a vector environment it is known of, marked as Gymnasium does."""
    truth = {"broken_sensors": intensity > 0, "fault_intensity": intensity}
    if rows is not None:
        truth |= {f"_{key}": rows for key in tuple(truth)}
    return truth
