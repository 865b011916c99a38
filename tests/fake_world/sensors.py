"""What the fake world can be observed by. Readings follow from seed, episode and step; `where` tells the action too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box, Discrete, Space

if TYPE_CHECKING:
    from tests.fake_world.world import World

IMAGE = Box(0, 255, (16, 16, 3), np.uint8)


class Sense(NamedTuple):
    """One sensor."""

    space: Callable[[World], Space[Any]]
    read: Callable[[World], Any]


def dice(world: World, name: str, *more: int) -> np.random.Generator:
    """Draws of one sensor in one episode."""
    return np.random.default_rng([world.seed, world.episode, *name.encode(), *more])


def where(world: World) -> Any:
    return np.float32([world.seed, world.episode, world.place, *world.action])


def glow(world: World) -> Any:
    return np.full((16, 16, 1), (20 * world.place + world.twist) % 256, np.uint8)


def drifting(name: str) -> Sense:
    """A pattern of the episode that wanders by one pixel a step."""
    return Sense(
        lambda world: IMAGE,
        lambda world: np.roll(dice(world, name).integers(0, 256, IMAGE.shape, np.uint8), world.place, axis=1),
    )


def noise(name: str, space: Space[Any], draw: Callable[[np.random.Generator], Any]) -> Sense:
    """Another frame at every step."""
    return Sense(lambda world: space, lambda world: draw(dice(world, name, world.place)))


SENSES: dict[str, Sense] = {
    "glow": Sense(lambda world: Box(0, 255, (16, 16, 1), np.uint8), glow),
    "where": Sense(lambda world: Box(-np.inf, np.inf, (3 + len(world.action),), np.float32), where),
    **{name: drifting(name) for name in ("camera", "lidar", "radar")},
    "front": noise("front", Box(0, 255, (16, 20, 3), np.uint8), lambda d: d.integers(0, 256, (16, 20, 3), np.uint8)),
    "depth": noise("depth", Box(0.0, 1.0, (8, 12, 2), np.float32), lambda d: d.random((8, 12, 2), np.float32)),
    "speed": noise(
        "speed",
        Box(np.float32([-1, 0]), np.float32([1, 100]), dtype=np.float32),
        lambda d: d.uniform([-1, 0], [1, 100]).astype(np.float32),
    ),
    "imu": noise("imu", Box(-np.inf, np.inf, (6,), np.float64), lambda d: d.standard_normal(6)),
    "gear": noise("gear", Discrete(6), lambda d: int(d.integers(6))),
}
PLAIN, DRIFTING, NOISY = ("glow", "where"), ("camera", "lidar", "radar"), ("front", "depth", "speed", "imu", "gear")
"""Sets of them that tests use together."""
