"""Which sensors to trust: health checks, surprise, selection among several sensors, rejection with one.

>>> guard = Guard(model, selection="greedy")
>>> action, verdict = guard.act(observation)
"""

from wiser.guard.calibrate import calibrate
from wiser.guard.calibration import Calibration, CalibrationError
from wiser.guard.guard import Guard
from wiser.guard.health import Health
from wiser.guard.look import Look
from wiser.guard.rejection import Rejection
from wiser.guard.selection import Calibrated, Exhaustive, Greedy, NoSelection, RandomMask
from wiser.guard.verdict import Mode, Verdict

__all__ = [
    "Calibrated",
    "Calibration",
    "CalibrationError",
    "Exhaustive",
    "Greedy",
    "Guard",
    "Health",
    "Look",
    "Mode",
    "NoSelection",
    "RandomMask",
    "Rejection",
    "Verdict",
    "calibrate",
]
