"""What the survivor sees of a world: what lies where in its view, what is in the way, how far it is."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.envs.crafter.looks import DeceptiveCow
from wiser.envs.crafter.package import constants, objects
from wiser.kernels import kernel

Cell = tuple[int, int]
Cells = NDArray[np.bool_]
"""Some of the cells, (x, y)."""
MOVES: dict[str, Cell] = {"move_left": (-1, 0), "move_right": (1, 0), "move_up": (0, -1), "move_down": (0, 1)}
FAR = 1 << 20
"""Distance of what cannot be reached."""
WALK, DIG, PUSH, BRIDGE = 1, 3, 6, 6
"""Steps it takes to get through a free cell, one to be dug out, one with a creature in it, and water."""
NIGHT, FEAR, SIGHT = 3, 3, 3
"""What grass in the dark is worth in steps of another way, as is being within so many cells of an enemy."""
DAY_LENGTH, EVENING = 300, (90, 150)
"""Steps of a day, and of it the part in which it is getting dark."""
ENEMIES = (objects.Zombie, objects.Skeleton, DeceptiveCow)


@kernel
def distances(cost: Any, x: int, y: int) -> Any:
    """Steps from a cell to every other (X, Y), and the first of them (X, Y): 0 to 3 as in `MOVES`, -1 at the start.

    `cost` (X, Y): steps to enter a cell, 0 if that is impossible.
    """
    width, height = cost.shape
    dist, first = np.full(cost.shape, FAR), np.full(cost.shape, -1)
    queue, queued = np.zeros((width * height, 2), np.int64), np.zeros(cost.shape, np.bool_)
    head, waiting = 0, 1
    queue[0, 0], queue[0, 1] = x, y
    dist[x, y] = 0
    while waiting > 0:
        u, v = queue[head]
        head, waiting = (head + 1) % len(queue), waiting - 1
        queued[u, v] = False
        for move, (dx, dy) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
            a, b = u + dx, v + dy
            if a < 0 or b < 0 or a >= width or b >= height or cost[a, b] == 0:
                continue
            steps = dist[u, v] + cost[a, b]
            if steps < dist[a, b]:
                dist[a, b] = steps
                first[a, b] = move if dist[u, v] == 0 else first[u, v]
                if not queued[a, b]:
                    queued[a, b] = True
                    tail = (head + waiting) % len(queue)
                    queue[tail, 0], queue[tail, 1] = a, b
                    waiting += 1
    return dist, first


def grow(cells: Cells, corners: bool) -> Cells:
    """These cells and their neighbours, the four next to them or all eight."""
    wide = cells.copy()
    wide[1:] |= cells[:-1]
    wide[:-1] |= cells[1:]
    grown, spread = wide.copy(), wide if corners else cells
    grown[:, 1:] |= spread[:, :-1]
    grown[:, :-1] |= spread[:, 1:]
    return grown


class Scene:
    """One moment of a game, as far as the player sees: what is out of view is nowhere."""

    def __init__(self, game: Any) -> None:
        self.world, self.player, self.unlocked = game.world, game.player, game.unlocked
        self.items: dict[str, int] = self.player.inventory
        self.evening = EVENING[0] < game.time % DAY_LENGTH < EVENING[1]
        x, y = self.player.pos
        self.here: Cell = (int(x), int(y))
        wide, high = game.sight
        self.seen: Cells = np.zeros(self.world.area, bool)
        self.seen[max(0, x - wide) : x + wide + 1, max(0, y - high) : y + high + 1] = True
        self.things = [t for t in self.world.objects if t is not self.player and self.seen[tuple(t.pos)]]
        self.facing: Cell = (int(self.player.facing[0]), int(self.player.facing[1]))
        self.front: Cell = (self.here[0] + self.facing[0], self.here[1] + self.facing[1])

    def of(self, *materials: str) -> Cells:
        """Cells of these materials."""
        return np.isin(self.world._mat_map, [self.world._mat_ids[name] for name in materials]) & self.seen

    def where(self, *kinds: Any, ripe: bool = False) -> Cells:
        """Cells with things of these kinds; of plants only the ripe ones, if asked for."""
        cells = np.zeros(self.world.area, bool)
        for thing in self.things:
            if isinstance(thing, kinds) and not (ripe and not thing.ripe):
                cells[tuple(thing.pos)] = True
        return cells

    def at(self, cell: Cell) -> tuple[str | None, Any]:
        """Material and thing in a cell; nothing outside the world."""
        found: tuple[str | None, Any] = self.world[cell]
        return found

    def is_free(self, cell: Cell) -> bool:
        """Whether one can go there."""
        material, thing = self.at(cell)
        return thing is None and material in constants.walkable

    def passable(self, cell: Cell) -> bool:
        """Whether a cell is in view, and one can walk or dig through it."""
        width, height = self.seen.shape
        inside = 0 <= cell[0] < width and 0 <= cell[1] < height and bool(self.seen[cell])
        return inside and (self.is_free(cell) or (self.at(cell)[1] is None and self.at(cell)[0] in self.diggable))

    @cached_property
    def open(self) -> Cells:
        """Cells that creatures can be in, now or later; a plant keeps them out."""
        return self.of(*constants.walkable) & ~self.where(objects.Plant)

    @cached_property
    def diggable(self) -> list[str]:
        """Materials that the player can take away and then walk where they were."""
        return [
            name
            for name, info in constants.collect.items()
            if info["leaves"] in constants.walkable and name not in constants.walkable and self.has(info["require"])
        ]

    @cached_property
    def routes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Steps to every cell, and the first of them; lava is left alone."""
        cost = np.where(self.of(*constants.walkable), WALK, 0)
        cost[self.of("grass")] += round(NIGHT * (1 - self.world.daylight))
        cost[self.feared & (cost > 0)] += FEAR
        cost[self.of(*self.diggable)] = DIG
        if self.items["stone"] and self.items["wood_pickaxe"]:
            cost[self.of("water")] = BRIDGE
        for thing in self.things:
            cell = tuple(thing.pos)
            cost[cell] = 0 if isinstance(thing, objects.Plant) or not cost[cell] else PUSH
        found: tuple[NDArray[Any], NDArray[Any]] = distances(cost, *self.here)
        return found

    @cached_property
    def feared(self) -> Cells:
        """Cells that an enemy is near."""
        cells = self.where(*ENEMIES)
        for _ in range(SIGHT):
            cells = grow(cells, corners=False)
        return cells

    @cached_property
    def sheltered(self) -> bool:
        """Whether nobody can come: the place one could walk about in is small."""
        reach, _ = distances(self.open.astype(np.int64), *self.here)
        within = reach < FAR
        return bool(within.sum() <= 8 and not (within & self.where(*ENEMIES)).any())

    def has(self, wanted: dict[str, int]) -> bool:
        """Whether the player has that much."""
        return all(self.items[name] >= amount for name, amount in wanted.items())

    def walk(self, goals: Cells) -> tuple[str | None, int]:
        """What to do to get into the nearest of some cells, and how many steps it takes; nothing if one is there."""
        dist, first = self.routes
        steps = np.where(goals, dist, FAR)
        best = np.unravel_index(steps.argmin(), steps.shape)
        if steps[best] in (0, FAR):
            return None, int(steps[best])
        return self.advance(tuple(MOVES)[first[best]]), int(steps[best])

    def advance(self, move: str) -> str:
        """One step in a direction, whatever is in the way."""
        (x, y), (dx, dy) = self.here, MOVES[move]
        cell = x + dx, y + dy
        if self.is_free(cell) or self.facing != (dx, dy):
            return move
        material, thing = self.at(cell)
        return "place_stone" if material == "water" and thing is None else "do"

    def use(self, targets: Cells) -> tuple[str | None, int]:
        """What to do to reach the nearest of some cells and use what is in it, and how many steps it takes."""
        x, y = self.here
        for move, (dx, dy) in MOVES.items():
            cell = x + dx, y + dy
            if min(cell) >= 0 and max(cell) < len(targets) and targets[cell]:
                return ("do" if self.facing == (dx, dy) else move), 0
        beside = grow(targets, corners=False)
        beside[x, y] = False
        return self.walk(beside & ~targets)
