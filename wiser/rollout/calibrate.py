"""What is normal for an agent in an environment, measured along the loop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

from wiser import seeds
from wiser.checks import at_least
from wiser.envs.domain import domain_of
from wiser.guard import Calibration, Calibrator
from wiser.guard.judges import Measuring, measuring_judges
from wiser.rollout.fit import check_fit
from wiser.rollout.loop import drive
from wiser.rollout.trial import Trial
from wiser.worldmodel.protocol import WorldModel


def calibrate(
    model: WorldModel,
    env: str,
    rows: int = 16,
    steps: int = 1000,
    beginnings: int = 256,
    seed: int = seeds.CALIBRATION.start,
    *,
    scores: Sequence[str] | None = None,
    judges: Sequence[Measuring] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Calibration:
    """Drive `rows` clean environments for `steps` steps each and summarise what is measured on the way.

    First frames are summarised apart; they are rare, so `beginnings` episodes more are begun, and not driven.
    judges: those whose own statistics are recorded; by default all that go by a name and have some.
    """
    at_least(1, rows=rows, steps=steps, beginnings=beginnings)
    trial = Trial(env, rows, seed, options=options or {})
    judges = measuring_judges() if judges is None else judges
    calibrator = Calibrator(model, rows, scores, judges, domain_of(env).sample_actions)
    with closing(trial.make(rows, 0, [sensor.name for sensor in model.sensors])) as made:
        check_fit(model, made, env)
        begun = math.ceil(beginnings / rows)
        for number in range(begun):
            last = number == begun - 1
            for _ in islice(drive(made, calibrator.guard, seed + number * rows), steps + 1 if last else 1):
                calibrator.take()
    return calibrator.calibration(seed=seed, env=env, steps=steps)
