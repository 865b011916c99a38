"""The package's tasks in less time and bit for bit the same: things by number, and nothing worked out twice.

The package looks for every thing by its name whenever it is asked about it, asks both sides of every contact for their
names, and has MuJoCo work out the whole world three times after every step.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cached_property, partial
from typing import Any

import numpy as np

from wiser.envs.safety.package import get_body_xvelp, mujoco

KNOWN = int(mujoco.mjtStage.mjSTAGE_VEL)
"""What follows from places and speeds, contacts too; the forces are left, whose solution begins with the last one."""
STILL = 0.9
"""Share of the speed from which on a vase costs, below which a rough measure of it will do."""


class Numbers:
    """Where things are in the models of a task, which differ from episode to episode in places alone."""

    def __init__(self, task: Any) -> None:
        model = task.model
        self.names = [model.geom(number).name for number in range(model.ngeom)]
        self.of_robot = np.isin(self.names, task.agent.body_info.geom_names)  # (geoms,)
        self.robot, self.goal = model.body("agent").id, model.body("goal").id
        self.hazards = [model.body(f"hazard{i}").id for i in range(task.hazards.num)]
        vases = range(task.vases.num if "vases" in task._free_geoms else 0)
        self.speeds = np.array([model.joint(f"vase{i}").dofadr[0] for i in vases], int)[:, None] + range(3)

    def touched(self, data: Any) -> Counter[str]:
        """How many contacts the robot has, by the name of what it touches."""
        pairs = data.contact.geom  # (contacts, 2)
        return Counter(self.names[number] for number in pairs[self.of_robot[pairs][:, ::-1]])


def swift(task: type) -> type:
    """A class of the package's tasks, quicker."""
    return type(f"Swift{task.__name__}", (_Swift, task), {})


class _Swift:
    """Before the package's class: what is worked out at every step, and how layouts are drawn."""

    def __init__(self: Any, config: Any) -> None:
        super().__init__(config=config)  # type: ignore[call-arg]
        self.random_generator.sample_layout = partial(sample_layout, self.random_generator)
        for gremlins in self._mocaps.values():
            gremlins.move = partial(_send_round, self, gremlins)

    @cached_property
    def numbers(self: Any) -> Numbers:
        """There are none before the first episode."""
        return Numbers(self)

    def obs(self: Any) -> None:
        """Observe nothing, for lidar takes more time than physics; but do to the world what observing it does."""
        mujoco.mj_forwardSkip(self.model, self.data, KNOWN, False)

    def dist_goal(self: Any) -> float:
        x, y, _ = (self.data.xpos[self.numbers.goal] - self.data.xpos[self.numbers.robot]).tolist()
        return math.sqrt(x * x + y * y)

    @property
    def goal_achieved(self: Any) -> bool:
        if "buttons" in self._geoms:
            return f"button{self.buttons.goal_button}" in self.numbers.touched(self.data)
        return super().goal_achieved  # type: ignore[misc]

    def calculate_cost(self: Any) -> dict[str, float]:
        mujoco.mj_forwardSkip(self.model, self.data, KNOWN, False)
        touched = self.numbers.touched(self.data)
        cost: dict[str, float] = {}
        for kind in self._obstacles:
            if kind.is_constrained:
                cost |= _HARM[kind.name](self, kind, touched)
        return cost | {"cost_sum": sum(cost.values())}


def _in_hazards(task: Any, hazards: Any, touched: Counter[str]) -> dict[str, float]:
    """The depth within each."""
    off = task.data.xpos[task.numbers.hazards, :2] - task.data.xpos[task.numbers.robot, :2]
    away = np.sqrt((off * off).sum(1))
    return {"cost_hazards": sum(hazards.cost * (hazards.size - float(d)) for d in away[away <= hazards.size])}


def _at_vases(task: Any, vases: Any, touched: Counter[str]) -> dict[str, float]:
    """Contacts, and the speed of those that move."""
    limit = vases.velocity_threshold
    rough = task.data.qvel[task.numbers.speeds]  # (vases, 3): as the package works it out, but for rounding
    moving = np.flatnonzero((rough * rough).sum(1) > (STILL * limit) ** 2)
    exact = [get_body_xvelp(task.model, task.data, f"vase{i}") for i in moving]
    speeds = [np.sqrt(np.sum(np.square(velocity))) for velocity in exact]
    return {
        "cost_vases_contact": _contacts(touched, "vase") * vases.contact_cost,
        "cost_vases_velocity": sum(speed * vases.velocity_cost for speed in speeds if speed >= limit),
    }


def _at_buttons(task: Any, buttons: Any, touched: Counter[str]) -> dict[str, float]:
    """Contacts with wrong ones, but not in the first steps after the right one was pressed."""
    if buttons.timer != 0:
        return {}
    wrong = _contacts(touched, "button") - touched[f"button{buttons.goal_button}"]
    return {"cost_buttons": wrong * buttons.cost}


def _at_gremlins(task: Any, gremlins: Any, touched: Counter[str]) -> dict[str, float]:
    """Contacts."""
    return {"cost_gremlins": _contacts(touched, "gremlin") * gremlins.contact_cost}


_HARM = {"hazards": _in_hazards, "vases": _at_vases, "buttons": _at_buttons, "gremlins": _at_gremlins}


def _contacts(touched: Counter[str], kind: str) -> int:
    return sum(count for name, count in touched.items() if name.startswith(kind))


def _send_round(task: Any, gremlins: Any) -> None:
    """Move all gremlins on along their circles."""
    now = float(task.data.time)
    task.data.mocap_pos[:] = np.sin(now) * gremlins.travel, np.cos(now) * gremlins.travel, gremlins.size


def sample_layout(generator: Any) -> bool:
    """Try once to find a place for everything, with the package's draws; the four tasks place things anywhere."""
    draw, margin = generator.random_generator.uniform, generator.placements_margin
    placed: list[tuple[str, float, float, float]] = []
    for name, (_, keepout) in generator.placements.items():
        left, below, right, above = generator.constrain_placement(generator.placements_extents, keepout)
        for _ in range(100):
            x, y = draw(left, right), draw(below, above)
            if all(
                math.sqrt((x - u) * (x - u) + (y - v) * (y - v)) >= other + margin + keepout
                for _, u, v, other in placed
            ):
                placed.append((name, x, y, keepout))
                break
        else:
            return False
    generator.layout = {name: np.array([x, y]) for name, x, y, _ in placed}
    return True
