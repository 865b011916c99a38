"""What the package's own renderer draws over the robot: rings of what its lidar measures, and a red ball at a cost."""

from __future__ import annotations

from typing import Any

import numpy as np


class _Notes:
    """Stands where the package has its viewer, and notes what is to be drawn."""

    def __init__(self) -> None:
        self.shapes: list[dict[str, Any]] = []

    def add_marker(self, label: str = "", **shape: Any) -> None:
        self.shapes.append(shape)


def halo(simulation: Any) -> list[dict[str, Any]]:
    """The shapes, in the package's order."""
    task = simulation.task
    viewer, task.viewer = task.viewer, _Notes()
    try:
        height = task.render_conf.lidar_offset_init
        for obstacle in task._obstacles:
            if obstacle.is_lidar_observed:
                task._render_lidar(obstacle.pos, obstacle.color, height, obstacle.group)
            height += task.render_conf.lidar_offset_delta
        if simulation.cost["cost_sum"] > 0:
            task._render_sphere(task.agent.pos, 0.25, np.array([1, 0, 0, 1]), alpha=0.5)
        return task.viewer.shapes
    finally:
        task.viewer = viewer
