"""An agent for a world of three cameras, so that tests of the cockpit need neither cars nor training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests import fake_world
from tests.tiny import model
from wiser.cockpit import Catalogue, Session
from wiser.cockpit.board import Board
from wiser.cockpit.simulation import Simulation
from wiser.worldmodel.store import save

ENV = fake_world.CAMERAS
SENSORS, ACTIONS = fake_world.described(sensors=fake_world.DRIFTING)


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of an agent for that world."""
    return str(save(model(SENSORS, ACTIONS), tmp_path_factory.mktemp("agents") / "tiny"))


def prepare(
    agent: str, env: str = ENV, seed: int = 0, speed: float = 0.0, options: Mapping[str, Any] | None = None
) -> tuple[Simulation, Catalogue]:
    """A simulation of that world, not yet started."""
    catalogue = Catalogue()
    session = Session(catalogue.choose(env, agent, "none", "greedy", seed, env_options=options))
    return Simulation(session, Board(), speed), catalogue
