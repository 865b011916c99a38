"""WISER keeps world-model agents working when their sensors fail.

>>> import wiser
>>> agent = wiser.load("four-lane/dropout")
>>> guard = wiser.Guard(agent)
>>> action, verdict = guard.act(observation)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wiser.evaluate.benchmark import benchmark
    from wiser.faults import SensorFaults
    from wiser.guard import Guard
    from wiser.worldmodel.planner import plan
    from wiser.worldmodel.store import load, save

__version__ = "0.1.0"
__all__ = ["Guard", "SensorFaults", "benchmark", "load", "plan", "save"]

_HOMES = {
    "Guard": "wiser.guard",
    "SensorFaults": "wiser.faults",
    "benchmark": "wiser.evaluate.benchmark",
    "load": "wiser.worldmodel.store",
    "plan": "wiser.worldmodel.planner",
    "save": "wiser.worldmodel.store",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: torch alone takes a second, and a help text needs none of it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'wiser' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
