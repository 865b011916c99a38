"""The package's local view, its ground drawn all at once instead of cell by cell: the same picture in half the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.envs.crafter.looks import Look
from wiser.envs.crafter.package import engine

BEYOND = 127
"""Grey of what lies outside the world."""


class TiledView(engine.LocalView):
    """Draws the surroundings of the player as a look has them."""

    def __init__(self, world: Any, textures: Any, grid: NDArray[Any]) -> None:
        super().__init__(world, textures, grid)
        self._kept: dict[Any, NDArray[np.uint8]] = {}

    def __call__(self, player: Any, unit: NDArray[Any], look: Look) -> NDArray[Any]:
        """(x, y, 3), at `unit` pixels a cell."""
        world, (columns, rows), (wide, high) = self._world, self._grid, map(int, unit)
        corner = player.pos - self._offset
        ground = np.pad(world._mat_map, [(margin, margin) for margin in self._offset], constant_values=BEYOND)
        x, y = player.pos  # of the corner in the padded map
        numbers: Any = ground[x : x + columns, y : y + rows]
        tiles = self._tiles((wide, high), look.grass)[numbers]  # (columns, rows, wide, high, 3)
        canvas = tiles.transpose(0, 2, 1, 3, 4).reshape(columns * wide, rows * high, 3)
        for thing in world.objects:
            where = thing.pos - corner
            if 0 <= where[0] < columns and 0 <= where[1] < rows:
                engine._draw_alpha(canvas, where * unit, self._textures.get(look.texture(thing), unit))
        lit: NDArray[Any] = self._light(canvas, world.daylight)
        return self._sleep(lit) if player.sleeping else lit

    def _tiles(self, unit: tuple[int, int], grass: str) -> NDArray[np.uint8]:
        """A picture for every material's number, (number, x, y, 3)."""
        key = unit, grass
        if key not in self._kept:
            tiles = np.full((BEYOND + 1, *unit, 3), BEYOND, np.uint8)
            for number, name in self._world._mat_names.items():
                tiles[number] = self._textures.get(grass if name == "grass" else name, unit)[..., :3]
            self._kept[key] = tiles
        return self._kept[key]
