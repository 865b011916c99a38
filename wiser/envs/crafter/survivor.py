"""A scripted survivor: it lives, works through the achievements, and looks around for what it cannot see.

It knows no more of the world than the picture of its surroundings shows, so that a policy can learn to do the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wiser.envs.crafter import crafts, shelter
from wiser.envs.crafter.names import ACTIONS, FULL
from wiser.envs.crafter.package import objects
from wiser.envs.crafter.scene import ENEMIES, MOVES, Scene
from wiser.envs.crafter.wander import explore

THIRSTY, HUNGRY, WEAK, WELL = 4, 4, 4, 7
"""Drink, food and health at which something must be done about it, and the health at which all is well again."""
PROVIDENT = 6
"""Drink and food at which one takes what is in view, and that one does not go into the night with."""
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
        return explore(scene)


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
    return action if steps == 0 else _supply(scene, "drink", THIRSTY, action)


def eat(scene: Scene) -> str | None:
    """When hungry, and before the night; a ripe plant is for whoever finds it."""
    plant, steps = scene.use(scene.where(objects.Plant, ripe=True))
    if plant is not None and (steps == 0 or lacks(scene, "food", HUNGRY) or "eat_plant" not in scene.unlocked):
        return plant
    return _supply(scene, "food", HUNGRY, scene.use(scene.where(objects.Cow))[0])


def _supply(scene: Scene, what: str, limit: int, action: str | None) -> str | None:
    """Take the action that leads to it in good time if there is one, and look for it when it is lacking."""
    if lacks(scene, what, limit):
        return action or explore(scene)
    return None if scene.sheltered or scene.items[what] > PROVIDENT else action


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
