"""Measure what is normal: run the unguarded agent on clean sensors and record its scores."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from wiser.guard.calibration import Calibration
from wiser.guard.guard import Guard
from wiser.guard.judges import Measuring
from wiser.guard.scores import known_scores, measure_scores
from wiser.worldmodel.protocol import WorldModel

Step = Callable[[Any], tuple[Any, Any]]
"""Takes the actions chosen, or None to begin other episodes everywhere; returns observations and which rows begin."""


@torch.no_grad()
def calibrate(
    model: WorldModel,
    step: Step,
    rows: int,
    steps: int,
    beginnings: int = 256,
    *,
    scores: Sequence[str] | None = None,
    judges: Sequence[Measuring] = (),
    **about: Any,
) -> Calibration:
    """Drive `rows` clean environments for `steps` steps each and summarise what is measured on the way.

    scores: names from `SCORES`, of all sensors and where it makes sense of each alone; None = all the model can give:
        `surprise`, `isolated_surprise/<sensor>`, and for models that decode `reconstruction` (context-free, M of the
        paper), `reconstruction/<sensor>` (from that sensor alone) and `context` (in-context reconstruction).
    judges: those whose own statistics are recorded too; they watch and decide nothing.
    beginnings: first frames are summarised apart; they are rare, so this many episodes more are begun, and not driven.
    """
    asked = known_scores(model, scores)
    meters = [judge.measure(model, rows) for judge in judges]
    guard = Guard(model, "none", rows=rows)
    recorded: dict[str, list[np.ndarray[Any, Any]]] = defaultdict(list)
    began: list[np.ndarray[Any, Any]] = []
    actions = None
    for count in range(steps + math.ceil(beginnings / rows)):
        obs, first = step(actions)
        chosen, _verdict = guard.act(obs, first)
        assert guard.evidence is not None
        began.append(np.broadcast_to(np.asarray(first, bool), rows))
        found = measure_scores(guard.evidence.look, asked)
        for meter in meters:
            found |= meter(guard.evidence)
        for name, values in found.items():
            recorded[name].append(values.cpu().numpy())
        actions = None if (count + 1) * rows < beginnings else chosen
    fresh = np.concatenate(began)
    frames = {name: np.concatenate(values) for name, values in recorded.items()}
    later, at_first = ({name: values[rows] for name, values in frames.items()} for rows in (~fresh, fresh))
    return Calibration.of(later, at_first, model.digest, **about, steps=steps)
