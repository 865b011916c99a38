"""A run on disk: `config.yaml`, `log.jsonl`, `model/` (the agent so far), `state.safetensors` (what resuming needs)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import yaml
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from wiser.files import write_atomic
from wiser.rollout.home import TRAINING
from wiser.train.config import CHANGEABLE, TrainConfig
from wiser.train.learner import Learner
from wiser.train.replay import Replay
from wiser.worldmodel.store import save

STATE = "state.safetensors"


class Where(NamedTuple):
    """Where a run stands."""

    update: int
    environments: tuple[dict[str, Tensor], dict[str, Any]] | None
    """State of the collector: tensors and plain values. None where its environments are about to begin afresh."""


def write(folder: Path, learner: Learner, replay: Replay, rng: np.random.Generator, where: Where) -> None:
    """Store everything a resumed run needs. The one file that counts is replaced atomically, last."""
    save(learner.model, folder / "model")
    write_atomic(folder / "model" / TRAINING, yaml.safe_dump(learner.config.to_dict(), sort_keys=False).encode())
    tensors: dict[str, Tensor] = {}
    for part, module in learner.modules.items():
        tensors |= {f"{part}.{name}": value for name, value in module.state_dict().items()}
    for i, parameter in enumerate(learner.weights()):
        for name, value in learner.optimiser.state[parameter].items():
            tensors[f"optimiser.{i}.{name}"] = value
    tensors["generator"] = learner.generator.get_state()
    collected, environments = where.environments or ({}, None)
    tensors |= {f"environments.{name}": value for name, value in collected.items()}
    about = {
        "update": where.update,
        "environments": environments,
        "optimiser_step": learner.optimiser.param_groups[0]["step"],
        "rng": rng.bit_generator.state,
        "replay": replay.save(where.update),
    }
    packed = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    write_atomic(folder / STATE, to_bytes(packed, {"about": json.dumps(about)}))
    replay.forget(where.update)


def read(folder: Path, own: Path, learner: Learner, replay: Replay, rng: np.random.Generator) -> Where | None:
    """Put a run back where `write` left it; returns where that is, or None if there is no checkpoint yet.

    What is learnt comes from the run's `folder`; experience and random numbers from the process's `own`, which is the
    same unless several processes train together.
    """
    if not (folder / STATE).exists() or not (own / STATE).exists():
        return None
    tensors, about = _open(folder)
    mine, about_mine = (tensors, about) if own == folder else _open(own)

    for part, module in learner.modules.items():
        module.load_state_dict(_part(tensors, f"{part}."))
    for i, parameter in enumerate(learner.weights()):
        stored = _part(tensors, f"optimiser.{i}.")
        if stored:
            learner.optimiser.state[parameter] = {name: value.to(parameter.device) for name, value in stored.items()}
    learner.optimiser.param_groups[0]["step"] = about["optimiser_step"]
    learner.generator.set_state(mine["generator"].to(torch.uint8))
    rng.bit_generator.state = about_mine["rng"]
    replay.restore(about_mine["replay"])
    environments = about_mine["environments"]
    return Where(about["update"], environments and (_part(mine, "environments."), environments))


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _open(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    with _state(folder) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return tensors, json.loads(file.metadata()["about"])


@contextmanager
def _state(folder: Path) -> Iterator[Any]:
    try:
        with safe_open(folder / STATE, framework="pt") as file:
            yield file
    except SafetensorError as error:
        raise ValueError(f"{folder / STATE} is damaged ({error}): restore it from a copy, or begin anew") from error


def begin(folder: Path, config: TrainConfig) -> None:
    """Write the config of a run. One that has come to a checkpoint may only be told anew what does not change it."""
    if (folder / STATE).exists() and (folder / "config.yaml").exists():
        before, now = config_of(folder).to_dict(), config.to_dict()
        if changed := [name for name in now if now[name] != before[name] and name not in CHANGEABLE]:
            raise ValueError(
                f"{folder} holds a run with another {', '.join(changed)}: go on with it (--resume {folder}), or choose "
                "another --out"
            )
        with _state(folder):  # damage is found before anything is written
            pass
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / "config.yaml", yaml.safe_dump(config.to_dict(), sort_keys=False).encode())


def config_of(folder: Path) -> TrainConfig:
    """Read the config of an existing run."""
    path = folder / "config.yaml"
    if not path.is_file():
        raise ValueError(f"{folder} is not a run: it has no config.yaml")
    try:
        return TrainConfig.from_dict(yaml.safe_load(path.read_text()))
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is not the config of a run: {error}") from error
