"""Find out what cannot be driven before anything is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

from wiser.envs.vector import make_rows
from wiser.evaluate.treatments import Treatment
from wiser.rollout import Disturbance, check_fit
from wiser.worldmodel.protocol import WorldModel


def rehearse(
    agent: WorldModel,
    env: str,
    options: Mapping[str, Any],
    disturbances: Iterable[Disturbance | None],
    treatments: Iterable[Treatment],
    processes: bool = False,
) -> None:
    """Make what is going to be driven, and drive nothing.

    A ValueError says which option the environment does not take, what the agent does not know there, which disturbance
    it has too few sensors for, or what a treatment lacks.
    """
    with closing(make_rows(env, 1, [sensor.name for sensor in agent.sensors], options, processes)) as made:
        check_fit(agent, made, env)
        for disturbance in disturbances:
            if disturbance is not None:
                disturbance.apply(made, 0)
        for treatment in treatments:
            treatment.guard(agent, env, made, 1, 0)
