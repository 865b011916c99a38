"""The driving tasks on a CARLA server as Gymnasium environments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import carla

from wiser.envs.driving.carla_backend.backend import CarlaWorld
from wiser.envs.driving.carla_backend.server import ServerOptions
from wiser.envs.driving.env import DrivingEnv
from wiser.envs.driving.sensors.suite import SENSORS
from wiser.envs.driving.tasks import TASKS


class CarlaEnv(DrivingEnv):
    """A driving task on a CARLA server: spaces, rewards and info of `DrivingEnv`, one world per server.

    sensors, size, continuous, cars as there; camera_pixels: side of the image CARLA renders before it is shrunk;
    server: the fields of `ServerOptions` (host, port, executable, timeout, ...); make_client: for tests.
    """

    def __init__(
        self,
        task: str = "FourLane",
        render_mode: str | None = None,
        sensors: Sequence[str] = SENSORS,
        cars: int | None = None,
        camera_pixels: int = 256,
        make_client: Callable[[str, int], carla.Client] = carla.Client,
        size: int = 64,
        continuous: bool = False,
        **server: Any,
    ) -> None:
        world = CarlaWorld(TASKS[task], sensors, cars, ServerOptions(**server), max(camera_pixels, size), make_client)
        try:
            super().__init__(task, render_mode, sensors=sensors, size=size, continuous=continuous, world=world)
        except BaseException:
            world.close()
            raise
