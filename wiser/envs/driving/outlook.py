"""A small picture for people who watch live: the road ahead, and a map in its corner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.sensors.scene import Scene
from wiser.envs.driving.sensors.suite import SensorSuite
from wiser.envs.driving.world import World

WIDTH, HEIGHT, TOP = 400, 225, 108  # cut from the square that the camera draws
MAP, MARGIN = 88, 8
FRAME = 235  # grey of the line round the map


class Outlook:
    """Draws the first world of a batch as it really is, whatever its sensors report."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._camera = None if "camera" in world.renders else SensorSuite(world.task, ["camera"], WIDTH, world.surface)
        self._map = SensorSuite(world.task, ["birdeye_gt"], MAP, world.surface)

    def draw(self) -> NDArray[np.uint8]:
        """The picture (225, 400, 3)."""
        scene = self.world.scene()
        one = Scene(*(part if name == "signs" else part[:1] for name, part in scene._asdict().items()))
        if self._camera is None:
            ahead = self.world.images(WIDTH)["camera"][0]
        else:
            ahead = self._camera.draw(one, self._camera.empty(1))[0, 0]
        picture = ahead[TOP : TOP + HEIGHT].copy()
        picture[MARGIN - 1 : MARGIN + MAP + 1, -MARGIN - MAP - 1 : 1 - MARGIN] = FRAME
        picture[MARGIN : MARGIN + MAP, -MARGIN - MAP : -MARGIN] = self._map.draw(one, self._map.empty(1))[0, 0]
        return picture
