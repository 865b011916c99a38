"""`wiser drive TASK`: film the scripted driver."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import tyro

from wiser.envs.driving.env import DrivingEnv
from wiser.record import save_film

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
    save_film(frames, out, FPS)
    print(f"{out}: {len(frames) / FPS:.1f} s, {'reached the destination' if info['success'] else 'did not arrive'}")
    return out
