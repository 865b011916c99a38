"""What a sensor may look at, whoever simulated it: plain arrays over B worlds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.roads import Floats


class Scene(NamedTuple):
    """One moment of B worlds with N other cars and S stop signs."""

    ego: Floats  # (B, 4) x, y, yaw, speed
    cars: Floats  # (B, N, 4) x, y, yaw, speed
    size: Floats  # (B, N, 3) length, width, height
    paint: Floats  # (B, N, 3) colour, 0 to 255
    present: NDArray[np.bool_]  # (B, N)
    plans: Floats  # (B, N, P, 2) where the other cars will drive
    route: Floats  # (B, V, 2) the ego's visible waypoints; the last one repeats at the end of the route
    signs: Floats  # (S, 3) x, y, yaw
    owed: NDArray[np.bool_]  # (B, S) the ego has yet to hold at this sign
