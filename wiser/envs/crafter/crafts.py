"""How a survivor comes by achievements: what is gathered, placed and made, by the package's own rules."""

from __future__ import annotations

from wiser.envs.crafter.package import constants, objects
from wiser.envs.crafter.scene import MOVES, Scene, grow
from wiser.envs.crafter.shelter import beyond

DISTANT = 30
"""Steps from which on a new table pays."""
STOCKS = (("wood", 6, "make_wood_pickaxe", "make_iron_sword"), ("stone", 9, "make_stone_sword", "make_iron_sword"))
"""Of what one keeps how much, from which achievement on and until which."""
GOALS = (
    "collect_sapling", "place_plant", "collect_wood", "place_table", "make_wood_pickaxe", "make_wood_sword",
    "collect_drink", "collect_stone", "place_stone", "make_stone_pickaxe", "make_stone_sword", "eat_cow",
    "collect_coal", "place_furnace", "collect_iron", "make_iron_pickaxe", "make_iron_sword", "collect_diamond",
    "defeat_skeleton", "defeat_zombie",
)  # fmt: skip
"""In the order in which they are gone for."""
PREY = {"eat_cow": objects.Cow, "defeat_zombie": objects.Zombie, "defeat_skeleton": objects.Skeleton}
BRAVE = 6
"""Health from which on one goes after an enemy."""


def progress(scene: Scene) -> str | None:
    """What to do for the first achievement that is not there yet and can be gone for."""
    for goal in GOALS:
        if goal in scene.unlocked:
            continue
        if (action := _stock(scene)) is not None or (action := pursue(scene, goal)) is not None:
            return action
    return None


def pursue(scene: Scene, goal: str) -> str | None:
    """What to do for one achievement; None if it cannot be had now."""
    if goal in PREY:
        return scene.use(scene.where(PREY[goal]))[0] if goal == "eat_cow" or scene.items["health"] >= BRAVE else None
    verb, _, what = goal.partition("_")
    return {"collect": gather, "place": put, "make": make}[verb](scene, what)


def gather(scene: Scene, item: str) -> str | None:
    """Get one more of an item, first the tool for it."""
    for material, info in constants.collect.items():
        if item in info["receive"]:
            for tool, amount in info["require"].items():
                if scene.items[tool] < amount:
                    return make(scene, tool)
            return _face(scene, "do", (material,)) if material == "grass" else scene.use(scene.of(material))[0]
    return None


def put(scene: Scene, what: str) -> str | None:
    """Place something; a furnace beside a table, where both are of use."""
    info = constants.place[what]
    for item, amount in info["uses"].items():
        if scene.items[item] < amount:
            return gather(scene, item)
    if what == "furnace" and not _near(scene, ("table",)):
        return _go_near(scene, ("table",))
    return _face(scene, f"place_{what}", tuple(name for name in info["where"] if name in constants.walkable))


def make(scene: Scene, what: str) -> str | None:
    """Make a tool: what it takes, then the places it is made at."""
    info = constants.make[what]
    for item, amount in info["uses"].items():
        if scene.items[item] < amount:
            return gather(scene, item)
    nearby = tuple(info["nearby"])
    return f"make_{what}" if _near(scene, nearby) else _go_near(scene, nearby)


def _near(scene: Scene, places: tuple[str, ...]) -> bool:
    """Whether all of these places are at hand, as the package sees it."""
    materials, _ = scene.world.nearby(scene.here, 1)
    return set(places) <= set(materials)


def _go_near(scene: Scene, places: tuple[str, ...]) -> str | None:
    """Go where all of these are at hand, or place what is lacking here."""
    around = [grow(scene.of(place), corners=True) for place in places]
    both = around[0]
    for cells in around[1:]:
        both = both & cells
    action, steps = scene.walk(both)
    if action is not None and steps <= DISTANT:
        return action
    lacking = next((place for place in places if not _near(scene, (place,))), places[0])
    return put(scene, lacking) or action


def _face(scene: Scene, action: str, materials: tuple[str, ...]) -> str | None:
    """Do something to a free cell of one of these materials in front of one; walk until there is one."""
    material, thing = scene.at(scene.front)
    if thing is None and material in materials:
        return action
    for move in MOVES:
        first, second = (beyond(scene.here, move, steps) for steps in (1, 2))
        if scene.is_free(first) and scene.at(second)[0] in materials:
            return move
    return scene.walk(scene.of(*materials) & scene.open)[0]


def _stock(scene: Scene) -> str | None:
    """Gather what will be needed: the first that is lacking and that there is some of near."""
    for item, amount, start, end in STOCKS:
        wanted = scene.items[item] < amount and start in scene.unlocked and end not in scene.unlocked
        if wanted and (action := gather(scene, item)) is not None:
            return action
    return None
