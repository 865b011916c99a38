"""The driving tasks on a CARLA server: its physics, traffic, camera and lidar; our tasks, rewards and bird's-eye views.

The package is not called `carla`, so that the client library keeps its name.
"""

from __future__ import annotations

from wiser.extras import install_hint

try:
    import carla as _client  # noqa: F401
except ImportError as error:
    raise ImportError(f"the CARLA backend needs CARLA's Python client: {install_hint('carla')}") from error
