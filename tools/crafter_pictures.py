"""Draws the picture of docs/crafter.md: six representations of one moment, clean and under each novelty."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from wiser.envs.crafter.env import CrafterEnv
from wiser.envs.crafter.names import NOVELTIES, SENSORS
from wiser.envs.crafter.novelty import Novelty
from wiser.envs.crafter.package import objects
from wiser.envs.crafter.survivor import Survivor

OUT = Path(__file__).parent.parent / "docs" / "images" / "crafter.png"
SEED, STEPS = 900_002, 100
TILE, GAP, TOP, LEFT = 128, 6, 24, 130
PAPER, INK, MARK = 24, (225, 228, 235), (255, 190, 60)


def moment(novelty: str | None) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """What the survivor sees, with a zombie and two cows put beside it, and which representations are affected."""
    env = CrafterEnv()
    env.reset(seed=SEED)
    survivor = Survivor(env.game)
    for _ in range(STEPS):
        env.step(survivor.action())
    game = env.game
    for kind, x, y in ((objects.Zombie, 3, -2), (objects.Cow, -3, 1), (objects.Cow, -2, -2)):
        where = game.player.pos + np.array((x, y))
        if game.world[where][1] is None:
            thing = kind(game.world, where, game.player) if kind is objects.Zombie else kind(game.world, where)
            thing.lot = 0.0
            game.world.add(thing)
    game.player.health = 7
    env.novelty = None if novelty is None else Novelty(novelty)
    observation, *_, info = env.step(0)
    return observation, info["fault_intensity"]


def main() -> None:
    """Write the picture; what a novelty affects has a frame."""
    rows = (None, *NOVELTIES)
    shape = (TOP + len(rows) * (TILE + GAP), LEFT + len(SENSORS) * (TILE + GAP), 3)
    canvas = np.full(shape, PAPER, np.uint8)
    for k, sensor in enumerate(SENSORS):
        _write(canvas, sensor, (LEFT + k * (TILE + GAP), TOP - 8))
    for row, novelty in enumerate(rows):
        y = TOP + row * (TILE + GAP)
        _write(canvas, novelty or "clean", (6, y + TILE // 2))
        observation, affected = moment(novelty)
        for k, sensor in enumerate(SENSORS):
            x = LEFT + k * (TILE + GAP)
            if affected[k]:
                canvas[y - 3 : y + TILE + 3, x - 3 : x + TILE + 3] = MARK
            image = np.broadcast_to(observation[sensor], (64, 64, 3))
            canvas[y : y + TILE, x : x + TILE] = cv2.resize(image, (TILE, TILE), interpolation=cv2.INTER_NEAREST)
    cv2.imwrite(str(OUT), canvas[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9])


def _write(canvas: np.ndarray, text: str, where: tuple[int, int]) -> None:
    cv2.putText(canvas, text, where, cv2.FONT_HERSHEY_SIMPLEX, 0.42, INK, 1, cv2.LINE_AA)


if __name__ == "__main__":
    main()
