"""Your own environment: train an agent in it, learn what is normal, break a sensor, guard it.

Run: python examples/own_env.py    (about five minutes on two cores; --updates 20 only shows that it runs)
The same from the command line, without a line of Python: docs/own-environment.md
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import tyro
from gymnasium.spaces import Box, Dict, Discrete

import wiser
from wiser.faults import Scenario
from wiser.rollout import calibrate
from wiser.train import stack, train

PLACES = 4


class Seek(gymnasium.Env[dict[str, Any], Any]):
    """Go to the goal on a line of four places, again and again. A camera and a sonar show the same thing."""

    def __init__(self) -> None:
        self.observation_space = Dict(
            camera=Box(0, 255, (16, 16 * PLACES, 3), np.uint8), sonar=Box(-1, 1, (2 * PLACES,), np.float32)
        )
        self.action_space = Discrete(3)  # left, stay, right

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.goal = self.np_random.permutation(PLACES)[:2]
        return self._observe(), {}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        self.place = int(np.clip(self.place + int(action) - 1, 0, PLACES - 1))
        found = self.place == self.goal
        if found:
            self.goal = (self.place + self.np_random.integers(1, PLACES)) % PLACES
        return self._observe(), float(found), False, False, {}

    def _observe(self) -> dict[str, Any]:
        camera = np.full((16, PLACES, 16, 3), 40, np.uint8)
        camera[:, self.goal], camera[:, self.place] = (255, 40, 40), (230, 230, 230)
        both = np.eye(PLACES, dtype=np.float32)[[self.place, self.goal]]
        return {"camera": camera.reshape(16, 16 * PLACES, 3), "sonar": both.ravel()}


ENV = "examples/Seek-v0"
gymnasium.register(ENV, entry_point=Seek, max_episode_steps=50)


def main(updates: int = 1250, episodes: int = 64, out: Path = Path("runs/seek")) -> None:
    """Train, calibrate, break, guard."""
    config = replace(stack(["nano", "pure", "dropout"]), env=ENV, updates=updates, evaluate_every=min(updates, 250))
    train(config, out, lambda line: print(line["update"], line.get("score", "")))
    agent = wiser.load(out / "model")
    calibrate(agent, ENV, rows=8, steps=500).save(out / "model")
    broken = {
        "camera dark": Scenario(faults=("blackout",), sensors=("camera",), onset=10),
        "sonar stuck": Scenario(faults=("freeze",), sensors=("sonar",), onset=10),
    }
    print(wiser.benchmark(agent, ENV, broken, ["none", "greedy", "calibrated"], episodes=episodes))


if __name__ == "__main__":
    tyro.cli(main)
