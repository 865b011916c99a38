"""The one closed loop: environments, a guard, and everybody who looks on."""

from wiser.rollout.calibrate import calibrate
from wiser.rollout.fit import check_fit
from wiser.rollout.loop import Moment, drive
from wiser.rollout.scorebook import Result, Scorebook
from wiser.rollout.trial import Disturbance, Trial
from wiser.rollout.waves import Wave, waves

__all__ = ["Disturbance", "Moment", "Result", "Scorebook", "Trial", "Wave", "calibrate", "check_fit", "drive", "waves"]
