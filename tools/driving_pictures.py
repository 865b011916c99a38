"""Draws the pictures of docs/driving.md: every sensor on every task as an agent sees it, and the views for people."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from wiser.envs.driving.env import DrivingEnv
from wiser.envs.driving.render import DIM, INK, PANEL, write
from wiser.envs.driving.sensors.suite import IMAGE_SENSORS

OUT = Path(__file__).parent.parent / "docs" / "images"
MOMENTS = {
    "FourLane": (5, 120),
    "RightTurn": (0, 70),
    "RightTurn-Medium": (1, 106),
    "RightTurn-Hard": (3, 96),
    "StopSign": (0, 22),
}
TILE, GAP, TOP, LEFT = 192, 8, 34, 150


def arrive(task: str, seed: int, steps: int, **options: object) -> tuple[DrivingEnv, dict[str, np.ndarray]]:
    """An environment in the middle of the expert's episode, and what it shows."""
    env = DrivingEnv(task, render_mode="rgb_array", **options)
    observation, _ = env.reset(seed=seed)
    for _ in range(steps):
        observation, *_ = env.step(env.expert_action())
    return env, observation


def sheet(size: int) -> np.ndarray:
    """All sensors of all tasks: one row per task."""
    rows = len(MOMENTS)
    canvas = np.full((TOP + rows * (TILE + GAP), LEFT + 6 * (TILE + GAP), 3), PANEL, np.uint8)
    for k, sensor in enumerate(IMAGE_SENSORS):
        label = sensor.replace("birdeye_with_traffic_lights", "birdeye_with_..lights")
        write(canvas, label, (LEFT + k * (TILE + GAP), TOP - 12), 0.5, INK)
    for row, (task, (seed, steps)) in enumerate(MOMENTS.items()):
        env, observation = arrive(task, seed, steps, size=size)
        y = TOP + row * (TILE + GAP)
        for line, word in enumerate(env.batch.task.title.split(", ")):
            write(canvas, word, (10, y + TILE // 2 + 24 * line), 0.6, DIM if line else INK)
        for k, sensor in enumerate(IMAGE_SENSORS):
            x = LEFT + k * (TILE + GAP)
            kind = cv2.INTER_NEAREST if TILE % size == 0 else cv2.INTER_AREA
            canvas[y : y + TILE, x : x + TILE] = cv2.resize(observation[sensor], (TILE, TILE), interpolation=kind)
    return canvas


def main() -> None:
    """Write all pictures."""
    OUT.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(OUT / "driving-sensors.png"), sheet(64)[..., ::-1])
    cv2.imwrite(str(OUT / "driving-sensors-fine.png"), sheet(192)[..., ::-1])
    for task in ("FourLane", "RightTurn-Hard", "StopSign"):
        env, _ = arrive(task, *MOMENTS[task], sensors=("collision",))
        cv2.imwrite(str(OUT / f"driving-{task}.png"), env.render()[..., ::-1])


if __name__ == "__main__":
    main()
