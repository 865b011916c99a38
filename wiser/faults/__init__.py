"""How sensors fail: corruptions of frames and streams, scenarios, and the Gymnasium wrapper that plays them.

scenario = Scenario(faults=("glare", "gaussian"), sensors=2, onset=10, proportion=0.75, intensity=0.5)
env = SensorFaults(gymnasium.make("..."), scenario)           # single or vector, Dict observations
obs, info = env.reset(seed=0)                                 # the agent sees the broken sensors in obs
dict(zip(env.sensor_names, info["broken_sensors"]))           # the truth, for judging the agent
broken = apply("blur", images, 0.5, numpy.random.default_rng(0))    # or only a corruption, (B, H, W, C)
"""

from wiser.faults.absence import absent_rows, mask_rows
from wiser.faults.fault import Fault, Rng, Stream
from wiser.faults.frames import (
    blackout,
    blur,
    chrome,
    gaussian,
    glare,
    jitter,
    nonfinite,
    occlusion,
    salt,
    stripes,
    swap,
)
from wiser.faults.presets import DEFAULT, PAPER, PAPER_MULTI, PRESETS, Severity
from wiser.faults.registry import APPLIES, FAULTS, apply
from wiser.faults.scenario import Scenario
from wiser.faults.schedule import Schedule
from wiser.faults.signal import Frame, Signal
from wiser.faults.streams import drift, dropout, freeze, lag, missing
from wiser.faults.wrapper import SensorFaults, VectorSensorFaults

__all__ = [
    "APPLIES",
    "DEFAULT",
    "FAULTS",
    "PAPER",
    "PAPER_MULTI",
    "PRESETS",
    "Fault",
    "Frame",
    "Rng",
    "Scenario",
    "Schedule",
    "SensorFaults",
    "Severity",
    "Signal",
    "Stream",
    "VectorSensorFaults",
    "absent_rows",
    "apply",
    "blackout",
    "blur",
    "chrome",
    "drift",
    "dropout",
    "freeze",
    "gaussian",
    "glare",
    "jitter",
    "lag",
    "mask_rows",
    "missing",
    "nonfinite",
    "occlusion",
    "salt",
    "stripes",
    "swap",
]
