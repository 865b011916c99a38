"""What is stored of every step, and how it becomes tensors again."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from wiser.guard.actions import to_model
from wiser.train.config import TrainConfig
from wiser.train.objectives import find_objective
from wiser.train.replay import Field, Sample
from wiser.train.teaching import Teaching, is_taught
from wiser.train.unroll import Sequences
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.protocol import Belief

SENSOR, SIGNAL = "sensor/", "signal/"
"""What names of fields begin with: a sensor that is called `action` is not the action."""


def replay_fields(config: TrainConfig, model: DreamerV3) -> dict[str, Field]:
    """What is stored of every step."""
    return {
        **{SENSOR + sensor.name: Field(sensor.shape, sensor.dtype) for sensor in model.sensors},
        **{SIGNAL + name: Field((), "float32") for name in find_objective(config.objective).signals},
        "action": Field((), "int64") if model.actions.discrete else Field((model.actions.size,), "float32"),
        "first": Field((), "bool"),
        "proceed": Field((), "bool"),
        "deter": Field((model.config.deter,), "float16"),
        "stoch": Field((model.config.stoch,), "uint8"),
        **(Teaching.fields(model.actions) if is_taught(config) else {}),
    }


def pack_belief(belief: Belief) -> dict[str, NDArray[Any]]:
    """Beliefs (..., D) and (..., S, C) as they are stored."""
    deter, stoch = belief.deter.detach(), belief.stoch.detach()
    return {"deter": deter.half().cpu().numpy(), "stoch": stoch.argmax(-1).to(torch.uint8).cpu().numpy()}


def belief_before(sample: Sample, model: DreamerV3, device: str) -> Belief:
    """Return the stored belief before each sequence; the initial one where there is none."""
    keep = torch.from_numpy(~sample.fresh_start).to(device)[:, None]  # (B, 1)
    deter = torch.from_numpy(sample.before["deter"]).to(device).float()  # (B, D)
    codes = torch.from_numpy(sample.before["stoch"]).to(device).long()  # (B, S)
    stoch = F.one_hot(codes, model.config.classes).float()  # (B, S, C)
    return Belief(deter * keep, stoch * keep[..., None])


def to_tensors(sample: Sample, model: DreamerV3, device: str) -> Sequences:
    """Sequences for the model."""
    steps = {name: torch.from_numpy(value).to(device) for name, value in sample.steps.items()}
    return Sequences(
        {sensor.name: steps[SENSOR + sensor.name] for sensor in model.sensors},
        {name.removeprefix(SIGNAL): value for name, value in steps.items() if name.startswith(SIGNAL)},
        encode_actions(steps["action"], model),
        steps["first"],
        steps["proceed"].float(),
    )


def encode_actions(actions: Tensor, model: DreamerV3) -> Tensor:
    """Environment actions (B, T) or (B, T, A) as the model writes them, (B, T, A)."""
    return to_model(actions.flatten(0, 1), model.actions).unflatten(0, actions.shape[:2])
