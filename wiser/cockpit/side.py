"""One side of the cockpit: a guarded agent in a world of its own, whose sensors can be broken."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium import spaces

from wiser.envs.domain import domain_of
from wiser.envs.vector import make_one
from wiser.evaluate.methods import Method
from wiser.faults import Scenario, SensorFaults
from wiser.record import Recorder
from wiser.record.step import Step
from wiser.worldmodel.protocol import Actions, Sensor, WorldModel


class Side:
    """Steps one copy of the episode. Sides with the same seed and the same clicks see the same faults, draw by draw."""

    def __init__(self, agent: WorldModel, env: str, method: Method, seed: int) -> None:
        self.agent, self.domain = agent, domain_of(env)
        unbroken = Scenario(faults=("missing",), sensors=1, intensity=0.0, seed=seed)
        self.env: Any = SensorFaults(make(env, agent), unbroken)
        self.guard = method.guard(agent, None, seed)
        self.draw = self.domain.view(self.env)
        self.faults: dict[str, tuple[str, float]] = {}
        self.outcome = ""
        self.obs, self.info = self.env.reset(seed=seed)
        self.broken = self._broken()

    def step(self, recorder: Recorder, lane: str) -> Step:
        """Look, judge, act; all of it goes into the recorder's lane."""
        action, verdict = self.guard.act(self.obs)
        believed = self.agent.decode(self.guard.belief) if self.agent.decodes else None
        seen, broken, view = self.obs, self.broken, self.draw()
        self.obs, reward, terminated, truncated, self.info = self.env.step(action)
        self.broken = self._broken()
        self.outcome = self.domain.ending(self.info, truncated) if terminated or truncated else ""
        return recorder.add(
            lane, seen, verdict, reward=reward, broken=broken, prediction=believed, view=view, outcome=self.outcome
        )

    def break_sensor(self, name: str, fault: str, intensity: float) -> None:
        """Break a sensor in this way and no other, from the next observation on."""
        self.heal_sensor(name)
        self.env.break_sensor(name, fault, intensity)
        self.faults[name] = (fault, intensity)

    def heal_sensor(self, name: str) -> None:
        """Let a sensor work again, from the next observation on."""
        self.env.heal_sensor(name)
        self.faults.pop(name, None)

    def close(self) -> None:
        """Let go of what the simulator holds."""
        self.env.close()

    def _broken(self) -> dict[str, tuple[str, float]]:
        """The truth about the current observation."""
        hit = zip(self.env.sensor_names, self.info["broken_sensors"], strict=True)
        return {name: self.faults[name] for name, broken in hit if broken and name in self.faults}


def make(env: str, agent: WorldModel) -> gymnasium.Env[Any, Any]:
    """An environment that this agent can live in; a ValueError says why there is none."""
    made = make_one(env)
    offered = made.observation_space.spaces if isinstance(made.observation_space, spaces.Dict) else {}
    for sensor in agent.sensors:
        if sensor.name not in offered:
            raise ValueError(f"{env} has no sensor {sensor.name!r}, which this agent needs")
        if (shape := Sensor.from_space(sensor.name, offered[sensor.name]).shape) != sensor.shape:
            raise ValueError(f"{sensor.name} of {env} has the shape {shape}, this agent needs {sensor.shape}")
    actions = Actions.from_space(made.action_space)
    if (actions.size, actions.discrete) != (agent.actions.size, agent.actions.discrete):
        raise ValueError(f"{env} takes other actions than this agent chooses: {made.action_space}")
    return made
