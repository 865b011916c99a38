"""Train the demo's world model on random play, with Algorithm 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional as F

from wiser.demo.puck import STEPS, PuckWorld
from wiser.guard import dropout_masks
from wiser.train import Sequences, observe, start_at_mean, world_model_loss
from wiser.worldmodel import Actions, sensors_of
from wiser.worldmodel.dreamer import DreamerConfig, DreamerV3

EPISODES, BATCH, LENGTH = 200, 16, 16


def build(seed: int) -> DreamerV3:
    """A model of about half a million weights."""
    world = PuckWorld(1)
    sensors = sensors_of(world.single_observation_space)
    actions = Actions.from_space(world.single_action_space)
    sizes = {"deter": 128, "hidden": 96, "stoch": 12, "classes": 12, "units": 64, "depth": 4}
    return DreamerV3(DreamerConfig(sensors=sensors, actions=actions, tower="patch", **sizes), seed=seed)  # type: ignore[arg-type]


def collect(seed: int) -> Sequences:
    """Random play, `EPISODES` episodes side by side."""
    world, rng = PuckWorld(EPISODES), np.random.default_rng(seed)
    obs, _ = world.reset(seed=seed)
    frames, actions = [obs], [np.zeros(EPISODES, np.int64)]
    for _ in range(STEPS - 1):
        actions.append(rng.integers(0, 5, EPISODES))
        frames.append(world.step(actions[-1])[0])
    first = torch.zeros(EPISODES, STEPS, dtype=torch.bool)
    first[:, 0] = True
    return Sequences(
        {name: torch.from_numpy(np.stack([frame[name] for frame in frames], 1)) for name in obs},
        F.one_hot(torch.from_numpy(np.stack(actions, 1)), 5).float(),
        first,
        torch.zeros(EPISODES, STEPS),
        torch.ones(EPISODES, STEPS),
    )


def train(model: DreamerV3, data: Sequences, updates: int, seed: int, progress: Callable[[float], None]) -> None:
    """Plain Adam on random pieces of the data; sensors drop out at random, targets stay whole."""
    start_at_mean(model, data.obs)
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    generator, rng = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
    for _ in range(updates):
        rows = torch.from_numpy(rng.integers(0, EPISODES, BATCH))
        start = int(rng.integers(0, STEPS - LENGTH + 1)) if rng.random() < 0.7 else 0  # see many beginnings
        piece = slice(start, start + LENGTH)
        batch = Sequences({n: x[rows, piece] for n, x in data.obs.items()}, *(x[rows, piece] for x in data[1:]))
        masks = dropout_masks((BATCH, LENGTH), len(model.sensors), generator)
        loss, terms = world_model_loss(model, batch, observe(model, batch, masks, generator))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 100.0)
        optimiser.step()
        progress(float(terms["decode/overhead"]))
    model.eval().requires_grad_(False)
