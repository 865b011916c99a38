"""Measure what is normal: run the unguarded agent on clean sensors and record its scores."""

from __future__ import annotations

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
"""Takes the actions chosen (None at the start), returns observations and which rows begin an episode."""


@torch.no_grad()
def calibrate(model: WorldModel, step: Step, rows: int, steps: int, **about: Any) -> Calibration:
    """Drive `rows` clean environments for `steps` steps each and summarise every score.

    Recorded are `surprise`, `isolated_surprise/<sensor>`, and for models that decode `reconstruction` (context-free,
    M of the paper), `reconstruction/<sensor>` (from that sensor alone) and `context` (in-context reconstruction).
    """
    guard = Guard(model, selection="none", rows=rows)
    recorded: dict[str, list[np.ndarray[Any, Any]]] = defaultdict(list)
    actions = None
    for _ in range(steps):
        obs, first = step(actions)
        actions, _verdict = guard.act(obs, first)
        assert guard.look is not None
        for name, values in clean_scores(guard.look).items():
            recorded[name].append(values.cpu().numpy())
    scores = {name: np.concatenate(values) for name, values in recorded.items()}
    return Calibration.of(scores, model.digest, **about, steps=steps)


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
