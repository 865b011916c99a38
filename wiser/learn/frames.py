"""What is learnt from: clean frames of one sensor, and the same frames with noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wiser.envs.domain import domain_of
from wiser.faults import gaussian
from wiser.guard import Guard
from wiser.rollout import Trial, check_fit, drive
from wiser.worldmodel.protocol import WorldModel

Frames = NDArray[Any]
"""(frames, H, W, C), uint8 or floats in [0, 1]."""
ROWS = 16
FAINTEST = 0.1
"""Intensity of the faintest noise: less is hardly to be seen, and no use to be called corrupted."""


class Pairs(NamedTuple):
    """Frames (B, H, W, C) without and with noise."""

    clean: Tensor
    noisy: Tensor


def clean_frames(model: WorldModel, env: str, sensor: str, count: int, seed: int, options: Mapping[str, Any]) -> Frames:
    """What a sensor shows while the unguarded agent drives, from the episode `seed` on; nothing is broken."""
    trial = Trial(env, ROWS, seed, options=options)
    guard = Guard(model, "none", rows=ROWS, seed=seed, sample_actions=domain_of(env).sample_actions)
    with closing(trial.make(ROWS, 0, [sensor.name for sensor in model.sensors])) as made:
        check_fit(model, made, env)
        steps = islice(drive(made, guard, seed), math.ceil(count / ROWS))
        frames = [np.array(moment.obs[sensor]) for moment in steps]  # (ROWS, H, W, C) each
    return np.concatenate(frames)[:count]


def spoil(frames: Frames, rng: np.random.Generator) -> Pairs:
    """Gaussian noise on every frame, of an intensity drawn for each."""
    noisy = gaussian(frames, rng.uniform(FAINTEST, 1.0, len(frames)), rng)
    return Pairs(torch.from_numpy(frames), torch.from_numpy(noisy))


def batches(frames: Frames, size: int, rng: np.random.Generator) -> Iterator[Pairs]:
    """Pairs drawn at random, for ever; their noise is new every time."""
    while True:
        yield spoil(frames[rng.integers(len(frames), size=size)], rng)


def once(frames: Frames, size: int, rng: np.random.Generator) -> Iterator[Pairs]:
    """Every frame once, in order."""
    for start in range(0, len(frames), size):
        yield spoil(frames[start : start + size], rng)
