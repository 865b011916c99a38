"""A room for the night: two cells, or two by two, whose open sides are walled up from within.

One faces a free cell only by having walked towards it, so a side can be walled up if the cell opposite is in the room.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiser.envs.crafter.scene import MOVES, Cell, Scene

Side = tuple[Cell, str]
"""A cell of the room, and the move that leads out of it."""


def rooms(here: Cell) -> Iterator[frozenset[Cell]]:
    """All that the player could be in."""
    x, y = here
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        yield frozenset({here, (x + dx, y + dy)})
    for dx in (1, -1):
        for dy in (1, -1):
            yield frozenset({here, (x + dx, y), (x, y + dy), (x + dx, y + dy)})


def beyond(cell: Cell, move: str, steps: int = 1) -> Cell:
    """The cell some steps on."""
    return cell[0] + steps * MOVES[move][0], cell[1] + steps * MOVES[move][1]


def open_sides(scene: Scene, room: frozenset[Cell]) -> list[Side] | None:
    """Sides that are to be walled up; None if it cannot be done."""
    if any(not scene.is_free(cell) for cell in room if cell != scene.here):
        return None
    sides = [(cell, move) for cell in sorted(room) for move in MOVES if beyond(cell, move) not in room]
    gaps = [(cell, move) for cell, move in sides if _is_gap(scene, beyond(cell, move))]
    return gaps if all(beyond(cell, move, -1) in room for cell, move in gaps) else None


def build(scene: Scene) -> str | None:
    """What to do next to be in a room of one's own; None if there are too few stones, or no place."""
    plans = [(sides, sorted(room)) for room in rooms(scene.here) if (sides := open_sides(scene, room)) is not None]
    plans = [(sides, room) for sides, room in plans if len(sides) <= scene.items["stone"]]
    if not plans:
        return None
    sides, room = min(plans, key=lambda plan: (len(plan[0]), plan[1]))
    if not sides:
        return None
    faced = [move for cell, move in sides if cell == scene.here and MOVES[move] == scene.facing]
    if faced:
        return "place_stone" if scene.at(scene.front)[1] is None else "do"
    return _towards(scene.here, sides, room)


def _towards(here: Cell, sides: list[Side], room: list[Cell]) -> str:
    """The move within the room that leads to facing an open side: straight on, or by one cell more."""
    for cell, move in sides:
        if beyond(cell, move, -1) == here:
            return move
    cell, move = sides[0]
    start = beyond(cell, move, -1)
    return next(
        step for step in sorted(MOVES, key=lambda step: _gap(beyond(here, step), start)) if beyond(here, step) in room
    )


def _gap(one: Cell, other: Cell) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _is_gap(scene: Scene, cell: Cell) -> bool:
    x, y = cell
    width, height = scene.open.shape
    return 0 <= x < width and 0 <= y < height and bool(scene.open[x, y])
