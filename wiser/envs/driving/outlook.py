"""A picture for people who watch live: the world from above, as it really is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.sensors.scene import Scene
from wiser.envs.driving.sensors.suite import SensorSuite
from wiser.envs.driving.world import World

SIZE = 320  # pixels


class Outlook:
    """Draws one world of a batch, whatever its sensors report."""

    def __init__(self, world: World, row: int = 0) -> None:
        self.world, self.row = world, row
        self._map = SensorSuite(world.task, ["birdeye_gt"], SIZE, world.surface)

    def draw(self) -> NDArray[np.uint8]:
        """The picture (320, 320, 3)."""
        scene = self.world.scene()
        rows = slice(self.row, self.row + 1)
        one = Scene(*(part if name == "signs" else part[rows] for name, part in scene._asdict().items()))
        return self._map.draw(one, self._map.empty(1))[0, 0]
