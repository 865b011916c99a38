"""What things are called, for those who ask before the package `crafter` is there."""

SENSORS = ("birdeye", "grayscale", "semantic", "danger", "health_trail", "proximity")
"""The six representations."""
NOVELTIES = ("hidden-enemy", "deceptive-enemy", "novel-colors", "invert-health")
ACHIEVEMENTS = (
    "collect_coal", "collect_diamond", "collect_drink", "collect_iron", "collect_sapling", "collect_stone",
    "collect_wood", "defeat_skeleton", "defeat_zombie", "eat_cow", "eat_plant", "make_iron_pickaxe", "make_iron_sword",
    "make_stone_pickaxe", "make_stone_sword", "make_wood_pickaxe", "make_wood_sword", "place_furnace", "place_plant",
    "place_stone", "place_table", "wake_up",
)  # fmt: skip
ACTIONS = (
    "noop", "move_left", "move_right", "move_up", "move_down", "do", "sleep", "place_stone", "place_table",
    "place_furnace", "place_plant", "make_wood_pickaxe", "make_stone_pickaxe", "make_iron_pickaxe", "make_wood_sword",
    "make_stone_sword", "make_iron_sword",
)  # fmt: skip
SIDE = 64
"""Cells of the world, and pixels of a picture, from side to side."""
FULL = 9
"""Most health that anybody has."""
