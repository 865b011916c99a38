"""Worlds to drive and live in, as Gymnasium environments. Importing this package registers their ids."""

from __future__ import annotations

import gymnasium

TASK_IDS = {
    "FourLane": "wiser/FourLane-v0",
    "RightTurn": "wiser/RightTurn-v0",
    "RightTurn-Medium": "wiser/RightTurn-Medium-v0",
    "RightTurn-Hard": "wiser/RightTurn-Hard-v0",
    "StopSign": "wiser/StopSign-v0",
}

CARLA_IDS = {task: name.replace("wiser/", "wiser/Carla") for task, name in TASK_IDS.items()}

for _task, _id in TASK_IDS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            id=_id,
            entry_point="wiser.envs.driving.env:DrivingEnv",
            vector_entry_point="wiser.envs.driving.env:DrivingVectorEnv",
            kwargs={"task": _task},
        )

for _task, _id in CARLA_IDS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(id=_id, entry_point="wiser.envs.driving.carla_backend.env:CarlaEnv", kwargs={"task": _task})
