"""Which sensors to trust: health checks, surprise, and a judge that trusts some of them, all or none.

>>> guard = Guard(model)
>>> action, verdict = guard.act(observation)
"""

from wiser.guard.calibrate import Calibrator
from wiser.guard.calibration import Calibration, CalibrationError
from wiser.guard.denoisers import DENOISERS, Denoiser
from wiser.guard.guard import Guard
from wiser.guard.health import Health
from wiser.guard.judges import (
    AUTO,
    JUDGES,
    Calibrated,
    Chain,
    Equipped,
    Evidence,
    Exhaustive,
    Greedy,
    Judge,
    RandomMask,
    Rejection,
    Ruling,
    TrustAll,
    Witnesses,
    find_judge,
    judge_by_name,
    preferred_judge,
)
from wiser.guard.look import Look
from wiser.guard.scores import SCORES, Score
from wiser.guard.verdict import Level, Mode, Verdict

__all__ = [
    "AUTO",
    "DENOISERS",
    "JUDGES",
    "SCORES",
    "Calibrated",
    "Calibration",
    "CalibrationError",
    "Calibrator",
    "Chain",
    "Denoiser",
    "Equipped",
    "Evidence",
    "Exhaustive",
    "Greedy",
    "Guard",
    "Health",
    "Judge",
    "Level",
    "Look",
    "Mode",
    "RandomMask",
    "Rejection",
    "Ruling",
    "Score",
    "TrustAll",
    "Verdict",
    "Witnesses",
    "find_judge",
    "judge_by_name",
    "preferred_judge",
]
