"""`wiser drive TASK`: film the scripted driver."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import cv2
import numpy as np
import tyro
from numpy.typing import NDArray

from wiser.envs.driving.env import DrivingEnv

TaskName = Literal["FourLane", "RightTurn", "RightTurn-Medium", "RightTurn-Hard", "StopSign"]
FPS = 10


def drive(
    task: tyro.conf.Positional[TaskName], out: Path | None = None, seed: int = 0, continuous: bool = False
) -> Path:
    """Record one episode of the expert.

    Args:
        task: which task to drive.
        out: file to write, .mp4 or .gif; TASK.mp4 in this directory if not given.
        seed: the scenario.
        continuous: steer smoothly instead of with the 15 discrete actions.
    """
    out = out or Path(f"{task}.mp4")
    env = DrivingEnv(task, render_mode="rgb_array", sensors=("collision",), continuous=continuous)
    env.reset(seed=seed)
    frames, over, info = [env.render()], False, {"success": False}
    while not over:
        _, _, terminated, truncated, info = env.step(env.expert_action())
        frames.append(env.render())
        over = terminated or truncated
    save_film(frames, out)
    print(f"{out}: {len(frames) / FPS:.1f} s, {'reached the destination' if info['success'] else 'did not arrive'}")
    return out


def save_film(frames: list[NDArray[np.uint8]], out: Path) -> None:
    """Write frames (H, W, 3) as .mp4 or .gif."""
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".gif":
        from PIL import Image

        small = [Image.fromarray(frame).resize((640, 360)) for frame in frames[::2]]
        small[0].save(out, save_all=True, append_images=small[1:], duration=2 * 1000 // FPS, loop=0)
        return
    height, width = frames[0].shape[:2]
    film = cv2.VideoWriter(str(out), cv2.VideoWriter.fourcc(*"mp4v"), FPS, (width, height))
    if not film.isOpened():
        raise RuntimeError(f"OpenCV cannot write {out}; try a name that ends in .mp4 or .gif")
    for frame in frames:
        film.write(frame[..., ::-1])
    film.release()
