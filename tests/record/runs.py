"""Small recordings for the tests: made-up verdicts, so that what a page must show is known."""

from __future__ import annotations

import numpy as np

from tests.tiny import image, reading, vector
from wiser.guard import Level, Mode, Verdict
from wiser.record import About, Recorder, Recording

SENSORS = (image("camera", 32), image("lidar", 32, 1), vector("range", 4))
LANES = {"clean": "none", "broken, unguarded": "none", "broken, guarded": "greedy"}
ONSET, HEALED = 8, 16


def verdict(trusted: tuple[bool, ...], healthy: tuple[bool, ...] = (True, True, True), **changes: object) -> Verdict:
    names = tuple(sensor.name for sensor in SENSORS)
    reasons = {
        name: "more surprising than without it" if fine else "not finite"
        for name, good, fine in zip(names, trusted, healthy, strict=True)
        if not good
    }
    fields = {
        "level": np.where(healthy, np.where(trusted, Level.OK, Level.WARN), Level.ERROR),
        "delay": np.zeros(len(SENSORS), int),
        "mode": Mode.GROUNDED if any(trusted) else Mode.PREDICTIVE,
        "surprise": 1.5,
        "scores": {"isolated_surprise": np.array([1.0, 2.0, np.inf], np.float32)},
        "blind_steps": 0 if any(trusted) else 3,
        "reset": False,
    }
    return Verdict(
        names, trusted=np.array(trusted), healthy=np.array(healthy), reasons=reasons, **{**fields, **changes}
    )


def record(
    steps: int = 24, title: str = "A test", predictions: bool = True, view: bool = False, seed: int = 0
) -> Recording:
    """Three lanes, each a little shorter than the one before. The camera breaks from ONSET to HEALED in the last two;
    the guarded lane masks it then, and its range finder is unhealthy."""
    rng = np.random.default_rng(seed)
    recorder = Recorder(SENSORS, LANES, About(title, "test/Task-v0", "test/agent", (3,), "python test.py"))
    for number, lane in enumerate(LANES):
        for step in range(steps - number):
            bad = number > 0 and ONSET <= step < HEALED
            judged = verdict((False, True, False), (True, True, False)) if bad and number == 2 else verdict((True,) * 3)
            obs = {sensor.name: reading(sensor, rng) for sensor in SENSORS}
            recorder.add(
                lane,
                obs,
                judged,
                reward=2.0,
                broken={"camera": ("glare", 0.5)} if bad else None,
                prediction={"camera": obs["camera"] / 255} if predictions else None,
                view=np.full((90, 160, 3), 9 * step % 256, np.uint8) if view else None,
                outcome="arrived" if step == steps - number - 1 else "",
            )
    return recorder.recording()
