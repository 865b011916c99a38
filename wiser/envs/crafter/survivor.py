"""A scripted survivor: it knows the whole world, lives, and works through the achievements one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wiser.envs.crafter import crafts, shelter
from wiser.envs.crafter.names import ACTIONS, FULL
from wiser.envs.crafter.package import objects
from wiser.envs.crafter.scene import ENEMIES, MOVES, Scene

THIRSTY, HUNGRY, WEAK, WELL = 3, 4, 4, 7
"""Drink, food and health at which something must be done about it, and the health at which all is well again."""
PROVIDENT = 6
"""Drink and food that one does not go into the night with."""
DARK, DAY = 0.45, 0.7
"""Daylight below which one looks for shelter, and above which one leaves it."""
TIRED, EXHAUSTED = 6, 2
"""Energy at which one sleeps at night, and at which by day too."""
SPARE = 8
"""Stones that a room in the open takes."""


class Survivor:
    """Says what it would do in one game. It remembers nothing, so anybody may act in between."""

    def __init__(self, game: Any) -> None:
        self.game = game

    def action(self) -> int:
        """Its choice now, as a number."""
        return ACTIONS.index(self.choose())

    def choose(self) -> str:
        """Its choice now, by name: the first thing that somebody in it wants."""
        if self.game.player.sleeping:
            return "noop"
        scene = Scene(self.game)
        for want in (fight, drink, eat, rest, crafts.progress):
            if (wanted := want(scene)) is not None:
                return wanted
        return "noop"


def fight(scene: Scene) -> str | None:
    """Hit whoever is next to one and hits."""
    for cell, thing in _neighbours(scene):
        if isinstance(thing, ENEMIES):
            return "do" if cell == scene.front else _turn(scene, cell)
    return None


def drink(scene: Scene) -> str | None:
    """When thirsty, before the night, or beside water and not full."""
    if scene.items["drink"] >= FULL - 1:
        return None
    action, steps = scene.use(scene.of("water"))
    return action if steps == 0 or lacks(scene, "drink", THIRSTY) else None


def eat(scene: Scene) -> str | None:
    """When hungry, and before the night; a ripe plant is for whoever finds it."""
    plant, steps = scene.use(scene.where(objects.Plant, ripe=True))
    if plant is not None and (steps == 0 or lacks(scene, "food", HUNGRY) or "eat_plant" not in scene.unlocked):
        return plant
    return scene.use(scene.where(objects.Cow))[0] if lacks(scene, "food", HUNGRY) else None


def lacks(scene: Scene, what: str, limit: int) -> bool:
    """Whether something must be done about it; in the evening early, and once one is safe at night late."""
    if scene.evening and not scene.sheltered:
        return scene.items[what] <= PROVIDENT
    safe = scene.sheltered and scene.world.daylight < DAY
    return scene.items[what] <= (0 if safe else limit)


def rest(scene: Scene) -> str | None:
    """Walled up from all sides, sleep through the night or when tired, and stay until one is well and it is day."""
    energy, health, light = scene.items["energy"], scene.items["health"], scene.world.daylight
    tired = energy <= EXHAUSTED or (light < DARK and energy <= TIRED)
    if scene.sheltered:
        return None if light > DAY and health >= WELL and not tired else "sleep" if energy < FULL else "noop"
    if not tired and health > WEAK:
        return None
    if (wall := shelter.build(scene)) is not None:
        return wall
    if scene.items["stone"] < SPARE and scene.items["wood_pickaxe"]:
        return crafts.gather(scene, "stone")
    return "sleep" if energy == 0 else None


def _neighbours(scene: Scene) -> Iterable[tuple[tuple[int, int], Any]]:
    """The four cells next to the player and what is in them, the one it faces first."""
    cells = [shelter.beyond(scene.here, move) for move in MOVES]
    return [(cell, scene.at(cell)[1]) for cell in sorted(cells, key=lambda cell: cell != scene.front)]


def _turn(scene: Scene, cell: tuple[int, int]) -> str:
    return next(move for move in MOVES if shelter.beyond(scene.here, move) == cell)
