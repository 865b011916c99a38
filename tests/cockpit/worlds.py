"""A small world of three sensors and an agent for it, so that tests of the cockpit need neither cars nor training."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.tiny import DISCRETE, image, model
from wiser.cockpit import Catalogue, Session
from wiser.cockpit.board import Board
from wiser.cockpit.simulation import Simulation
from wiser.worldmodel.store import save

ENV = "test/Drifting-v0"
SENSORS = (image("camera"), image("lidar"), image("radar"))


class Drifting(gymnasium.Env[Any, Any]):
    """Patterns that wander by one pixel a step; every action earns its number."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None, length: int = 40) -> None:
        self.render_mode, self.length = render_mode, length
        self.observation_space = gymnasium.spaces.Dict(
            {sensor.name: gymnasium.spaces.Box(0, 255, sensor.shape, np.uint8) for sensor in SENSORS}
        )
        self.action_space = gymnasium.spaces.Discrete(DISCRETE.size)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.time = 0
        self.scene = {s.name: self.np_random.integers(0, 256, s.shape, np.uint8) for s in SENSORS}
        return self.look(), {}

    def step(self, action: Any) -> Any:
        self.time += 1
        return self.look(), float(action), False, self.time >= self.length, {}

    def look(self) -> dict[str, Any]:
        return {name: np.roll(scene, self.time, axis=1) for name, scene in self.scene.items()}

    def render(self) -> Any:
        return np.roll(self.scene["camera"], self.time, axis=1).repeat(10, 0).repeat(16, 1)


for _id, _length in ((ENV, 40), ("test/Endless-v0", 10**9)):
    if _id not in gymnasium.registry:
        gymnasium.register(_id, Drifting, kwargs={"length": _length}, disable_env_checker=True)


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of an agent for that world."""
    return str(save(model(SENSORS), tmp_path_factory.mktemp("agents") / "tiny"))


def prepare(agent: str, env: str = ENV, seed: int = 0, speed: float = 0.0) -> tuple[Simulation, Catalogue]:
    """A simulation of that world, not yet started."""
    catalogue = Catalogue()
    session = Session(catalogue.choose(env, agent, "none", "greedy", seed))
    return Simulation(session, Board(), speed), catalogue
