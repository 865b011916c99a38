"""WISER keeps world-model agents working when their sensors fail.

>>> import wiser
>>> agent = wiser.load("models/four-lane")
>>> guard = wiser.Guard(agent)
>>> action, verdict = guard.act(observation)
"""

from wiser.faults import SensorFaults
from wiser.guard import Guard
from wiser.worldmodel.store import load, save

__all__ = ["Guard", "SensorFaults", "load", "save"]
