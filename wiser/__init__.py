"""WISER keeps world-model agents working when their sensors fail.

>>> import wiser
>>> agent = wiser.load("four-lane/dropout")
>>> guard = wiser.Guard(agent)
>>> action, verdict = guard.act(observation)
"""

from typing import Any

from wiser.faults import SensorFaults
from wiser.guard import Guard
from wiser.worldmodel.store import load, save

__all__ = ["Guard", "SensorFaults", "benchmark", "load", "save"]


def __getattr__(name: str) -> Any:
    """Import `benchmark` when it is asked for: it brings the environments along, which not everybody needs."""
    if name == "benchmark":
        from wiser.evaluate.benchmark import benchmark

        return benchmark
    raise AttributeError(f"module 'wiser' has no attribute {name!r}")
