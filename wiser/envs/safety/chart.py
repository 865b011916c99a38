"""Ways around obstacles: how long the shortest way to a goal is from everywhere, where some ground is dear.

The time T to the goal solves |grad T| = slowness (the eikonal equation); it is found on a grid by fast sweeping, and
the way from any place goes straight down it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wiser.kernels import kernel

Array = NDArray[np.float64]
Place = Array | tuple[float, float]
SPAN = 2.6
"""Half the side of the map in metres."""
CELL = 0.08
"""Side of a cell in metres."""
SIDE = 2 * math.ceil(SPAN / CELL) + 1
"""Cells from side to side; the middle one is the origin."""
WAYS = 32
"""Directions among which the steepest is looked for: differences of neighbours mean nothing where two ways part."""


@kernel
def slowness(discs: Array, cell: float, side: int) -> Array:
    """How dear a metre is in each cell (side, side): 1 in the open, more near discs (n, 5).

    A disc is x, y, the radius within which every metre costs `dear` more, the width of the ring around it in which that
    fades to nothing, and `dear`. Where some overlap the dearest counts.
    """
    field = np.ones((side, side))
    origin = -cell * (side // 2)
    for n in range(len(discs)):
        x, y, radius, ring, dear = discs[n]
        left, below = (x - radius - ring - origin) / cell, (y - radius - ring - origin) / cell
        wide = 2 * (radius + ring) / cell + 1
        for i in range(max(int(left), 0), min(int(left + wide) + 1, side)):
            for j in range(max(int(below), 0), min(int(below + wide) + 1, side)):
                away = math.hypot(origin + i * cell - x, origin + j * cell - y) - radius
                if away <= 0.0:
                    field[i, j] = max(field[i, j], 1.0 + dear)
                elif away < ring:
                    field[i, j] = max(field[i, j], 1.0 + 0.1 * dear * (1.0 - away / ring) ** 2)
    return field


@kernel
def times(field: Array, goal_x: float, goal_y: float, cell: float) -> Array:
    """The time to a goal from each cell (side, side), by Godunov's scheme swept in four directions until it stands."""
    side = len(field)
    far = 1e9
    found = np.full((side, side), far)
    origin = -cell * (side // 2)
    a = min(max(int((goal_x - origin) / cell), 0), side - 2)
    b = min(max(int((goal_y - origin) / cell), 0), side - 2)
    for i in range(max(a - 1, 0), min(a + 3, side)):  # exact around the goal, which lies between cells
        for j in range(max(b - 1, 0), min(b + 3, side)):
            found[i, j] = field[i, j] * math.hypot(origin + i * cell - goal_x, origin + j * cell - goal_y)
    for _ in range(20):
        changed = 0.0
        for way in range(4):
            for k in range(side):
                i = k if way < 2 else side - 1 - k
                for m in range(side):
                    j = m if way % 2 == 0 else side - 1 - m
                    one = min(found[i - 1, j] if i > 0 else far, found[i + 1, j] if i < side - 1 else far)
                    two = min(found[i, j - 1] if j > 0 else far, found[i, j + 1] if j < side - 1 else far)
                    step = field[i, j] * cell
                    if abs(one - two) >= step:
                        new = min(one, two) + step
                    else:
                        new = 0.5 * (one + two + math.sqrt(2.0 * step * step - (one - two) ** 2))
                    if new < found[i, j]:
                        changed = max(changed, found[i, j] - new)
                        found[i, j] = new
        if changed < 1e-6:
            break
    return found


@kernel
def look_up(field: Array, x: float, y: float, cell: float) -> float:
    """A field between cells, bilinear; places beyond the map are on its edge."""
    side = len(field)
    u = min(max(x / cell + side // 2, 0.0), side - 1.000001)
    v = min(max(y / cell + side // 2, 0.0), side - 1.000001)
    i, j = int(u), int(v)
    u, v = u - i, v - j
    near = field[i, j] * (1 - v) + field[i, j + 1] * v
    return near * (1 - u) + (field[i + 1, j] * (1 - v) + field[i + 1, j + 1] * v) * u


@kernel
def follow(found: Array, x: float, y: float, steps: int, cell: float) -> tuple[float, float]:
    """Where the way from (x, y) down the times arrives after so many steps of a cell, or the lowest place before."""
    lowest = look_up(found, x, y, cell)
    for _ in range(steps):
        best_x, best_y, best = x, y, lowest
        for way in range(WAYS):
            angle = 2 * math.pi * way / WAYS
            to_x, to_y = x + cell * math.cos(angle), y + cell * math.sin(angle)
            time = look_up(found, to_x, to_y, cell)
            if time < best:
                best_x, best_y, best = to_x, to_y, time
        if best == lowest:
            break
        x, y, lowest = best_x, best_y, best
    return x, y


NEAR = 0.15
"""Metres from the goal where the way is straight."""


class Chart:
    """The ground as it is now, and the ways to a goal. Places are x and y in metres.

    >>> Chart(np.array([[0.0, 0.0, 0.2, 0.1, 30.0]]), goal=(1.0, 0.0)).ahead((-1.0, 0.0), 0.5)
    """

    def __init__(self, discs: Array, goal: Place) -> None:
        self.goal = np.array(goal, np.float64)
        self.slowness = slowness(discs.reshape(-1, 5), CELL, SIDE)
        self.times = times(self.slowness, self.goal[0], self.goal[1], CELL)

    def time_from(self, place: Place) -> float:
        """Metres to the goal, dear ones counted as so many more."""
        return float(look_up(self.times, float(place[0]), float(place[1]), CELL))

    def dear(self, place: Place) -> float:
        """How dear a metre is here."""
        return float(look_up(self.slowness, float(place[0]), float(place[1]), CELL))

    def ahead(self, place: Place, distance: float) -> Array:
        """The place so many metres further on the way to the goal; from beyond the map, the nearest place on it."""
        here = np.array(place, np.float64)
        inside = here.clip(-SPAN, SPAN)
        if (inside != here).any():
            return inside
        if np.linalg.norm(here - self.goal) <= NEAR:
            return self.goal
        return np.array(follow(self.times, here[0], here[1], round(distance / CELL), CELL))
