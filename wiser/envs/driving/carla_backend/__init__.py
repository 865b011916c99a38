"""The driving tasks on a CARLA server: its physics, traffic, camera and lidar; our tasks, rewards and bird's-eye views.

The package is not called `carla`, so that the client library keeps its name.
"""

from __future__ import annotations

try:
    import carla as _client  # noqa: F401
except ImportError as error:
    raise ImportError("the CARLA backend needs CARLA's Python client: pip install wiser[carla]") from error
