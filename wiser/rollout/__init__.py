"""The one closed loop: environments, a guard, and everybody who looks on."""

from wiser.rollout.calibrate import calibrate
from wiser.rollout.fit import check_fit
from wiser.rollout.home import away_from_home, home_of, mention_home
from wiser.rollout.loop import Moment, drive, step
from wiser.rollout.scorebook import Result, Scorebook, complete
from wiser.rollout.trial import Disturbance, Trial
from wiser.rollout.waves import Wave, waves

__all__ = [
    "Disturbance",
    "Moment",
    "Result",
    "Scorebook",
    "Trial",
    "Wave",
    "away_from_home",
    "calibrate",
    "check_fit",
    "complete",
    "drive",
    "home_of",
    "mention_home",
    "step",
    "waves",
]
