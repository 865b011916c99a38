"""Where a survivor goes when it sees nothing that it wants: straight on, and aside where the way ends."""

from __future__ import annotations

from wiser.envs.crafter.scene import MOVES, Scene
from wiser.envs.crafter.shelter import beyond

ROOM = 2
"""Free cells ahead from which on one goes straight on."""


def explore(scene: Scene) -> str:
    """A step of a walk that depends on nothing but what is in view and on where one faces."""
    ahead = next(move for move, step in MOVES.items() if step == scene.facing)
    aside = [move for move, step in MOVES.items() if step[0] * scene.facing[0] + step[1] * scene.facing[1] == 0]
    free = {move: _free(scene, move) for move in MOVES}
    if free[ahead] >= ROOM:
        return scene.advance(ahead)
    back = next(move for move in MOVES if move != ahead and move not in aside)
    return scene.advance(max((*aside, ahead, back), key=lambda move: (free[move] > 0, move != back, free[move])))


def _free(scene: Scene, move: str) -> int:
    """Cells in a row, as far as one sees, that one can walk or dig through."""
    steps = 0
    while scene.passable(beyond(scene.here, move, steps + 1)):
        steps += 1
    return steps
