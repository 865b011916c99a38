"""Courses to drive, and what stands still in them."""

from typing import Any

import numpy as np
import pytest

from wiser.envs.safety.course import Course
from wiser.envs.safety.gl import context_kind
from wiser.envs.safety.names import TASKS
from wiser.envs.safety.package import Builder, mujoco

NAMES = tuple(TASKS)


def can_draw() -> bool:
    try:
        return context_kind() is not None
    except ImportError:
        return False


needs_gl = pytest.mark.skipif(not can_draw(), reason="no GL library to draw with: apt-get install libosmesa6")


def package_env(name: str) -> Any:
    """The package's own environment, lidar and all."""
    return Builder(f"{name}-v0", {"agent_name": "Car" if "Car" in name else "Point"})


def moves(count: int, seed: int = 0) -> np.ndarray:
    """Actions that get somewhere: they change every few steps."""
    return np.repeat(np.random.default_rng(seed).uniform(-1, 1, (-(-count // 8), 2)), 8, axis=0)[:count]


def place(course: Course, x: float, y: float, heading: float = 0.0) -> None:
    """Put the robot somewhere, standing still, its front turned by `heading` from the x axis."""
    data, model = course.task.data, course.task.model
    data.qvel[:] = 0
    if course.robot == "Car":
        data.qpos[:2] = x, y
        turned = heading + np.pi / 2  # its front is -y
        data.qpos[3:7] = np.cos(turned / 2), 0, 0, np.sin(turned / 2)
    else:
        body = model.body("agent")
        mujoco.mj_forward(model, data)
        base, zero = body.pos[:2], 2 * np.arctan2(body.quat[3], body.quat[0])
        turn = np.array([[np.cos(zero), np.sin(zero)], [-np.sin(zero), np.cos(zero)]])
        data.qpos[:2] = turn @ (np.array([x, y]) - base)
        data.qpos[2] = heading - zero
    mujoco.mj_forward(model, data)
