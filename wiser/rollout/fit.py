"""Whether an agent can live in an environment."""

from __future__ import annotations

from gymnasium import spaces

from wiser.envs.domain import Rows
from wiser.worldmodel.protocol import Actions, Sensor, WorldModel


def check_fit(agent: WorldModel, env: Rows, name: str) -> None:
    """Raise a ValueError that says which sensor, or which actions, of the environment the agent does not know."""
    space = env.single_observation_space
    offered = space.spaces if isinstance(space, spaces.Dict) else {}
    for sensor in agent.sensors:
        if sensor.name not in offered:
            there = ", ".join(offered) or "none"
            raise ValueError(f"{name} has no sensor {sensor.name!r}, which this agent needs; there are {there}")
        if (shape := Sensor.from_space(sensor.name, offered[sensor.name]).shape) != sensor.shape:
            raise ValueError(f"{sensor.name} of {name} has the shape {shape}, this agent needs {sensor.shape}")
    actions = Actions.from_space(env.single_action_space)
    if (actions.size, actions.discrete) != (agent.actions.size, agent.actions.discrete):
        raise ValueError(f"{name} takes other actions than this agent chooses: {env.single_action_space}")
