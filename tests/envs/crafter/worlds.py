"""Worlds with nothing in them but what a test puts there."""

from typing import Any

import numpy as np

from wiser.envs.crafter.env import CrafterEnv
from wiser.envs.crafter.package import objects

MIDDLE = (32, 32)


def meadow(seed: int = 0, length: int = 1000) -> CrafterEnv:
    """Grass as far as one can see, and the player in the middle of it."""
    env = CrafterEnv(length)
    env.reset(seed=seed)
    clear(env)
    return env


def clear(env: CrafterEnv) -> None:
    world = env.game.world
    world._mat_map[:] = world._mat_ids["grass"]
    for thing in world.objects:
        if thing is not env.game.player:
            world.remove(thing)
    env.game._balance_chunk = lambda chunk, members: None  # nobody comes by, nobody leaves


def put(env: CrafterEnv, kind: type, x: int, y: int) -> Any:
    """A thing so many cells from the player."""
    game = env.game
    where = game.player.pos + np.array((x, y))
    knows_the_player = kind in (objects.Zombie, objects.Skeleton)
    thing = kind(game.world, where, game.player) if knows_the_player else kind(game.world, where)
    game.world.add(thing)
    return thing


def lay(env: CrafterEnv, material: str, x: int, y: int) -> None:
    """A material so many cells from the player."""
    env.game.world[tuple(env.game.player.pos + np.array((x, y)))] = material
