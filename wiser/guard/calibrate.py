"""Measure what is normal: run the unguarded agent on clean sensors and record its scores."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from wiser.guard.calibration import Calibration
from wiser.guard.guard import Guard
from wiser.guard.look import Look, reconstruction_error
from wiser.guard.rejection import context_free_reconstruction, in_context_surprise
from wiser.worldmodel.protocol import WorldModel

Step = Callable[[Any], tuple[Any, Any]]
"""Takes the actions chosen, or None to begin other episodes everywhere; returns observations and which rows begin."""


@torch.no_grad()
def calibrate(model: WorldModel, step: Step, rows: int, steps: int, beginnings: int = 256, **about: Any) -> Calibration:
    """Drive `rows` clean environments for `steps` steps each and summarise every score.

    Recorded are `surprise`, `isolated_surprise/<sensor>`, and for models that decode `reconstruction` (context-free,
    M of the paper), `reconstruction/<sensor>` (from that sensor alone) and `context` (in-context reconstruction).
    First frames are summarised apart; they are rare, so `beginnings` episodes more are begun, and not driven.
    """
    guard = Guard(model, selection="none", rows=rows)
    recorded: dict[str, list[np.ndarray[Any, Any]]] = defaultdict(list)
    began: list[np.ndarray[Any, Any]] = []
    actions = None
    for count in range(steps + math.ceil(beginnings / rows)):
        obs, first = step(actions)
        chosen, _verdict = guard.act(obs, first)
        assert guard.look is not None
        began.append(np.broadcast_to(np.asarray(first, bool), rows))
        for name, values in clean_scores(guard.look).items():
            recorded[name].append(values.cpu().numpy())
        actions = None if (count + 1) * rows < beginnings else chosen
    fresh = np.concatenate(began)
    scores = {name: np.concatenate(values) for name, values in recorded.items()}
    later, at_first = ({name: values[rows] for name, values in scores.items()} for rows in (~fresh, fresh))
    return Calibration.of(later, at_first, model.digest, **about, steps=steps)


def clean_scores(look: Look) -> dict[str, Tensor]:
    """Every score a calibration holds, (B,) each."""
    rows, sensors = look.mask.shape
    alone = torch.eye(sensors, dtype=torch.bool, device=look.mask.device).expand(rows, -1, -1)
    isolated = look.infer(alone)[1]  # (B, N)
    scores = {"surprise": in_context_surprise(look)}
    for column, sensor in enumerate(look.model.sensors):
        scores[f"isolated_surprise/{sensor.name}"] = isolated[:, column]
    if look.model.decodes:
        scores["reconstruction"] = context_free_reconstruction(look)
        scores["context"] = reconstruction_error(look, look.belief)
        for column, sensor in enumerate(look.model.sensors):
            if sensor.name in look.model.decodes:
                scores[f"reconstruction/{sensor.name}"] = context_free_reconstruction(look.trusting(alone[:, column]))
    return scores
