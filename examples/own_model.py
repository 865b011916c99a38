"""Your own world model: the guard needs six methods and nothing else, here those of an exact Bayes filter.

A robot on a ring of twelve places wants to be at place 0. Three beacons tell it where it is; soon two of them lie.
Run: python examples/own_model.py
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from wiser.guard import Guard
from wiser.worldmodel import Actions, Belief, Prior, Sensor

PLACES, MOVES, NAMES = 12, 0.8, 0.9  # how often a move succeeds, and a beacon names the right place


class RingFilter:
    """p(place), as each move and each beacon changes it. `deter` is not needed: zeros."""

    sensors = tuple(Sensor(name, (PLACES,), "float32", 0.0, 1.0) for name in ("north", "east", "west"))
    actions = Actions(3)  # back, stay, on
    decodes: tuple[str, ...] = ()  # it rebuilds no readings, so it can select sensors but not repair them
    folder = digest = None  # it was not loaded from a file

    def initial(self, rows: int) -> Belief:
        return Belief(torch.zeros(rows, 1), torch.full((rows, 1, PLACES), 1 / PLACES))

    def predict(self, belief: Belief, action: Tensor, first: Tensor) -> Prior:
        place = torch.where(first[:, None], 1 / PLACES, belief.stoch[:, 0])  # (B, C)
        moved = torch.stack([torch.roll(place, step, 1) for step in (-1, 0, 1)], 1)  # (B, A, C)
        likely = (action[:, :, None] * moved).sum(1) + (1 - action.sum(1, keepdim=True)) * place
        return Prior(belief.deter, (MOVES * likely + (1 - MOVES) / PLACES).log()[:, None])  # (B, 1, C)

    def embed(self, obs: Mapping[str, Tensor]) -> Tensor:
        """Log-likelihood of every place for each beacon, (B, N, C)."""
        named = torch.stack([obs[sensor.name] for sensor in self.sensors], 1)
        return (NAMES * named + (1 - NAMES) / PLACES).log()

    def infer(self, prior: Prior, features: Tensor, masks: Tensor) -> Tensor:
        evidence = masks.float() @ features  # (B, K, C): trusted beacons add up
        expected = prior.logprobs.reshape(len(masks), -1, PLACES)  # (B, 1 or K, C)
        return F.log_softmax(expected + evidence, -1)[:, :, None]  # (B, K, 1, C)

    def decode(self, belief: Belief) -> dict[str, Tensor]:
        return {}

    def act(self, belief: Belief, noise: Tensor | None = None) -> Tensor:
        place = belief.stoch[:, 0].argmax(1)
        step = torch.where(place == 0, 1, torch.where(place > PLACES // 2, 2, 0))
        return F.one_hot(step, 3).float()


def drive(judge: str, steps: int = 200, seed: int = 0) -> float:
    """Share of the steps at place 0. From step 20 on two beacons point across the ring, and the wind always blows."""
    rng, guard, place, home = np.random.default_rng(seed), Guard(RingFilter(), judge), 5, 0
    for step in range(steps):
        across = place if step < 20 else (place + PLACES // 2) % PLACES
        north, east, west = np.eye(PLACES, dtype=np.float32)[[across, place, across]]
        action, _ = guard.act({"north": north, "east": east, "west": west})
        place = (place + int(action) - 1 + rng.integers(-1, 2) * (rng.random() < 0.2)) % PLACES
        home += place == 0
    return home / steps


if __name__ == "__main__":
    for judge in ("none", "greedy"):
        print(f"{judge:8s} at home {np.mean([drive(judge, seed=seed) for seed in range(20)]):.0%} of the time")
