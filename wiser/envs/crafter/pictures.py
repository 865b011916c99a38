"""The six representations, each a 64x64 picture. Maps of the whole world have a pixel for every cell."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.envs.crafter.looks import DANGEROUS, HiddenEnemy, Look
from wiser.envs.crafter.names import FULL, SENSORS, SIDE

Image = NDArray[np.uint8]
SHAPES = {name: (SIDE, SIDE, 1 if name in ("grayscale", "health_trail", "proximity") else 3) for name in SENSORS}
COLOURS: dict[str | None, tuple[int, int, int]] = {
    None: (0, 0, 0), "water": (40, 90, 200), "grass": (60, 150, 50), "stone": (125, 125, 125), "path": (185, 160, 120),
    "sand": (225, 215, 160), "tree": (15, 75, 25), "lava": (255, 110, 0), "coal": (30, 30, 30), "iron": (210, 150, 110),
    "diamond": (150, 255, 255), "table": (120, 70, 20), "furnace": (80, 60, 60), "player": (255, 255, 255),
    "cow": (120, 60, 120), "zombie": (255, 0, 90), "skeleton": (255, 0, 255), "arrow": (110, 0, 255),
    "plant": (150, 255, 0), HiddenEnemy.BLOB: (255, 225, 30),
}  # fmt: skip
"""Of the semantic view: materials and things."""
DANGER_SPREAD = 1.5
"""Standard deviation of what surrounds a danger, in cells."""
NEAR = 8
"""Cells within which the proximity grid counts things; a zombie sees as far."""
EACH = 64
"""What each of them adds to its direction."""
THIRDS = np.arange(SIDE) * 3 // SIDE
"""The cell of the grid that a row or a column of its picture shows."""


class Trail:
    """The health a player had where it went: 3x3 cells around every place, the latest visit on top."""

    def __init__(self) -> None:
        self.health = np.zeros((SIDE, SIDE))
        self.visited = np.zeros((SIDE, SIDE), bool)

    def record(self, player: Any) -> None:
        """Take down the player's health."""
        x, y = player.pos
        around = np.s_[max(0, x - 1) : x + 2, max(0, y - 1) : y + 2]
        self.health[around], self.visited[around] = player.health, True

    def draw(self, look: Look) -> Image:
        """White where it was well, black where it was not, or never."""
        shown = np.where(self.visited, look.health(self.health), 0.0)
        return _grey(np.rint(shown * 255 / FULL))


def draw_maps(world: Any, player: Any, look: Look) -> dict[str, Image]:
    """What is drawn from the state of the world."""
    things = world.objects
    return {
        "semantic": semantic(world, things, look),
        "danger": danger(world, things, player, look),
        "proximity": proximity(things, player),
    }


def grayscale(image: Image) -> Image:
    """The same without colours."""
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8)[..., None]  # (H, W, 1)


def semantic(world: Any, things: list[Any], look: Look) -> Image:
    """The whole world, a colour for every material and every kind of thing."""
    palette = np.array([COLOURS[name] for name in world._mat_names.values()], np.uint8)
    view = palette[world._mat_map]  # (x, y, 3)
    for thing in things:
        view[tuple(thing.pos)] = COLOURS[look.kind(thing)]
    return view.transpose(1, 0, 2)


def danger(world: Any, things: list[Any], player: Any, look: Look) -> Image:
    """Zombies, skeletons and lava in red that fades with distance, the player as a green dot."""
    sources = (world._mat_map == world._mat_ids["lava"]).astype(np.float32)  # (x, y)
    for thing in things:
        if look.kind(thing) in DANGEROUS:
            sources[tuple(thing.pos)] = 1.0
    heat = cv2.GaussianBlur(sources, (0, 0), DANGER_SPREAD, borderType=cv2.BORDER_CONSTANT) / _PEAK
    view = np.zeros((SIDE, SIDE, 3), np.uint8)
    view[..., 0] = np.rint(255 * np.minimum(heat, 1.0))
    x, y = player.pos
    view[max(0, x - 1) : x + 2, max(0, y - 1) : y + 2, 1] = 255
    return view.transpose(1, 0, 2)


def proximity(things: list[Any], player: Any) -> Image:
    """How many things are near, in eight directions: a grid of 3x3, the player in the middle."""
    offsets = np.array([thing.pos for thing in things if thing is not player]).reshape(-1, 2) - player.pos  # (n, 2)
    offsets = offsets[np.abs(offsets).max(1, initial=0) <= NEAR]
    # The sine of 22.5 degrees is half a sector: what lies nearer to an axis than that is on it.
    part = offsets / np.linalg.norm(offsets, axis=1, keepdims=True)
    cells = 1 + np.where(np.abs(part) > np.sin(np.pi / 8), np.sign(offsets), 0).astype(np.intp)  # (n, 2)
    grid = np.zeros((3, 3))
    np.add.at(grid, (cells[:, 0], cells[:, 1]), EACH)
    return _grey(grid[np.ix_(THIRDS, THIRDS)])


def _grey(view: NDArray[Any]) -> Image:
    """(x, y) of any size to (H, W, 1)."""
    return np.clip(view, 0, 255).astype(np.uint8).T[..., None]


def _peak() -> float:
    """What is left at its own place of a single danger."""
    dot = np.zeros((SIDE, SIDE), np.float32)
    dot[SIDE // 2, SIDE // 2] = 1.0
    return float(cv2.GaussianBlur(dot, (0, 0), DANGER_SPREAD).max())


_PEAK = _peak()
