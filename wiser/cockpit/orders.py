"""What a page may ask for, as JSON. Anything else is a ValueError that says what is wrong with it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from wiser.cockpit.catalogue import Catalogue
from wiser.cockpit.simulation import FASTEST, Simulation

Order = dict[str, Any]
Deed = Callable[[Simulation], None]


class Orders:
    """Reads orders. A page chooses from the catalogue only: no other code is imported, no other file is read."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._known: dict[str, Callable[[Order], Deed]] = {
            "break": _break,
            "heal": _heal,
            "surprise": lambda order: _surprise,
            "pause": lambda order: _pause(bool(order.get("paused"))),
            "step": lambda order: _step,
            "speed": lambda order: _speed(_number(order, "speed", 0.0, FASTEST)),
            "restart": lambda order: _restart,
            "choose": self._choose,
        }

    def read(self, text: str) -> Deed:
        """What an order asks the simulation to do."""
        try:
            order = json.loads(text)
        except ValueError as error:
            raise ValueError(f"an order is JSON: {error}") from error
        known = self._known.get(str(order.get("do"))) if isinstance(order, dict) else None
        if known is None:
            raise ValueError(f"""an order is {{"do": one of {", ".join(self._known)}}}""")
        return known(order)

    def _choose(self, order: Order) -> Deed:
        wanted: Order = {name: str(order[name]) for name in ("env", "agent", "left", "right") if name in order}
        for name in wanted:
            offered = {"env": self.catalogue.envs, "agent": self.catalogue.agents}.get(name, self.catalogue.treatments)
            if wanted[name] not in offered:
                raise ValueError(f"no {name} {wanted[name]!r} is offered; there are {', '.join(offered)}")
        if "env" in wanted and "agent" not in wanted:
            wanted["agent"] = self.catalogue.agent_for(wanted["env"])
        if "seed" in order:
            wanted["seed"] = order["seed"]

        def choose(it: Simulation) -> None:
            now = it.session.choice
            if wanted.get("env", now.env) != now.env:
                wanted["env_options"] = {}  # they were the other environment's
            it.restart(replace(now, **wanted))
            it.told = f"Seed {it.session.choice.seed} of {self.catalogue.envs[it.session.choice.env]}."

        return choose


def _break(order: Order) -> Deed:
    sensor, fault, intensity = order.get("sensor"), str(order.get("fault")), _number(order, "intensity", 0.01, 2.0)

    def break_sensors(it: Simulation) -> None:
        names = it.session.sensor_names if sensor is None else (str(sensor),)
        able = [name for name in names if sensor is not None or fault in it.session.faults_of(name)]
        for name in able:
            it.session.break_sensor(name, fault, intensity)
        it.told = f"Broken: {'all sensors' if sensor is None else _spoken(sensor)}, {fault} {intensity:g}."

    return break_sensors


def _heal(order: Order) -> Deed:
    sensor = order.get("sensor")

    def heal(it: Simulation) -> None:
        it.session.heal_sensor(None if sensor is None else str(sensor))
        it.told = f"Healed: {'all sensors' if sensor is None else _spoken(sensor)}."

    return heal


def _surprise(it: Simulation) -> None:
    it.told = f"Surprise: {it.session.surprise_me()}."


def _pause(paused: bool) -> Deed:
    def pause(it: Simulation) -> None:
        it.paused = paused
        it.told = "Paused." if paused else ""

    return pause


def _step(it: Simulation) -> None:
    it.paused = True
    it.step()


def _speed(speed: float) -> Deed:
    def accelerate(it: Simulation) -> None:
        it.speed = speed

    return accelerate


def _restart(it: Simulation) -> None:
    it.restart()
    it.told = "From the beginning, all sensors healed."


def _number(order: Order, name: str, low: float, high: float) -> float:
    value = order.get(name)
    if not isinstance(value, int | float) or not math.isfinite(value) or not low <= value <= high:
        raise ValueError(f"{name} is a number from {low:g} to {high:g}, got {value!r}")
    return float(value)


def _spoken(sensor: Any) -> str:
    return str(sensor).replace("_", " ")
