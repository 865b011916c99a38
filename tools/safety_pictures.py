"""Draws the picture of docs/safety.md: what each camera sees in each task, and the whole map for people."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from wiser.envs.safety.env import SafetyEnv
from wiser.envs.safety.names import SENSORS, TASKS
from wiser.envs.safety.pilot import Pilot

OUT = Path(__file__).parent.parent / "docs" / "images" / "safety.png"
SEED, LATEST, NEAR = 900_003, 60, 1.2
TILE, GAP, TOP, LEFT = 192, 8, 30, 170
PAPER, INK = 24, (225, 228, 235)
COLUMNS = (*(f"{name}, 64x64" for name in SENSORS), "for people")


def moment(task: str) -> list[np.ndarray]:
    """The pilot on its way, once its goal is near and in front of it."""
    env = SafetyEnv(task, render_mode="rgb_array")
    observation, _ = env.reset(seed=SEED)
    pilot, course = Pilot(env.course), env.course
    for step in range(LATEST):
        way = (course.task.goal.pos - course.position)[:2]
        away = float(np.linalg.norm(way))
        if step > 5 and away < NEAR and way @ course.forward[:2] > 0.9 * away:
            break
        observation, *_ = env.step(pilot.action())
    pictures = [observation[name] for name in SENSORS] + [env.render()]
    env.close()
    return pictures


def main() -> None:
    """Write the picture."""
    shape = (TOP + len(TASKS) * (TILE + GAP), LEFT + len(COLUMNS) * (TILE + GAP), 3)
    canvas = np.full(shape, PAPER, np.uint8)
    for k, column in enumerate(COLUMNS):
        _write(canvas, column, (LEFT + k * (TILE + GAP), TOP - 10))
    for row, task in enumerate(TASKS):
        y = TOP + row * (TILE + GAP)
        _write(canvas, task, (8, y + TILE // 2))
        for k, image in enumerate(moment(task)):
            x = LEFT + k * (TILE + GAP)
            kind = cv2.INTER_AREA if len(image) > TILE else cv2.INTER_NEAREST
            canvas[y : y + TILE, x : x + TILE] = cv2.resize(image, (TILE, TILE), interpolation=kind)
    cv2.imwrite(str(OUT), canvas[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9])


def _write(canvas: np.ndarray, text: str, where: tuple[int, int]) -> None:
    cv2.putText(canvas, text, where, cv2.FONT_HERSHEY_SIMPLEX, 0.45, INK, 1, cv2.LINE_AA)


if __name__ == "__main__":
    main()
