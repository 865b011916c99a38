"""The tasks of the learning benchmark, registered on import, and what all contenders share: recipe, options, curves.

Every task has Dict observations. Recipes are in one place, so that no contender gets more steps, updates or replay.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv, PendulumEnv
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray

EPISODES, HELD_OUT = 10, 1_000_000  # of every evaluation: episodes, and the seed of the first


@dataclass(frozen=True)
class Recipe:
    """What both contenders are told. Steps are environment steps, summed over the rows, the prefill included.

    Nothing is learnt during the prefill; then an update, of `batch` sequences of `length` steps, follows after every
    `steps_per_update` steps of each row. So batch * length / (rows * steps_per_update) steps are replayed per step.
    """

    steps: int
    """Environment steps in all."""
    every: int = 400
    """Environment steps between evaluations, the first of them `every` after the prefill."""
    rate: float = 3e-4
    """Learning rate, after warm-up."""
    warmup: int = 200
    """Updates over which the learning rate rises."""
    rows: int = 4
    """Environments stepped side by side."""
    prefill: int = 60
    """Steps of each row before the first update."""
    steps_per_update: int = 2
    """Steps of each row between two updates."""
    batch: int = 8
    """Sequences per update."""
    length: int = 32
    """Steps per sequence."""

    def __post_init__(self) -> None:
        if self.every % (self.rows * self.steps_per_update) or (self.steps - self.begin) % self.every:
            raise ValueError("evaluations must fall between updates, the last at the end")
        if self.prefill <= self.length:
            raise ValueError("both contenders wait until every row has a sequence and the step before it")

    @property
    def begin(self) -> int:
        """Environment steps before the first update."""
        return self.prefill * self.rows

    @property
    def updates(self) -> int:
        """Updates in all."""
        return (self.steps - self.begin) // (self.rows * self.steps_per_update)


RECIPES = {
    "small/CartPole-v0": Recipe(steps=10_240),
    "small/Pendulum-v0": Recipe(steps=8_240),
    "small/Seek-v0": Recipe(steps=6_240, length=16),  # images cost most: half the replay of the others
}


class CartPole(CartPoleEnv):
    """Gymnasium's CartPole-v1, its four numbers as two sensors. At most 500 steps, one point for each."""

    def __init__(self) -> None:
        super().__init__()
        sensor = Box(-np.inf, np.inf, (2,), np.float32)
        self.observation_space = Dict({"cart": sensor, "pole": sensor})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        obs, info = super().reset(seed=seed, options=options)
        return {"cart": obs[:2], "pole": obs[2:]}, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, *rest = super().step(action)
        return {"cart": obs[:2], "pole": obs[2:]}, *rest


class Pendulum(PendulumEnv):
    """Gymnasium's Pendulum-v1, its three numbers as two sensors. 200 steps.

    Actions are torques divided by the largest one, -1 to 1: policies of both contenders act in this range, so neither
    rescales them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Dict(
            {"angle": Box(-np.inf, np.inf, (2,), np.float32), "speed": Box(-np.inf, np.inf, (1,), np.float32)}
        )
        self.action_space = Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        obs, info = super().reset(seed=seed, options=options)
        return {"angle": obs[:2], "speed": obs[2:]}, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, reward, *rest = super().step(np.asarray(action, np.float32) * self.max_torque)
        return {"angle": obs[:2], "speed": obs[2:]}, float(reward), *rest


class Seek(gymnasium.Env):
    """Go to the red bar, seen by a 64x64 camera: a point for each time, and it is somewhere else.

    Four places on a line, each 16 pixels wide; 0 left, 1 stay, 2 right. An episode is cut off after 50 steps: a random
    policy finds the bar about five times, the shortest ways lead to about thirty.
    """

    PLACES, PIXELS = 4, 16

    def __init__(self) -> None:
        self.observation_space = Dict({"camera": Box(0, 255, (64, 64, 3), np.uint8)})
        self.action_space = Discrete(3)
        self.place = self.goal = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(self.PLACES))
        self._hide()
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place = min(max(self.place + int(action) - 1, 0), self.PLACES - 1)
        found = self.place == self.goal
        if found:
            self._hide()
        return self._observe(), float(found), False, False, {}

    def _hide(self) -> None:
        self.goal = (self.place + 1 + int(self.np_random.integers(self.PLACES - 1))) % self.PLACES

    def _observe(self) -> dict[str, NDArray[np.uint8]]:
        image = np.full((64, 64, 3), 40, np.uint8)
        for place, colour in ((self.goal, (255, 40, 40)), (self.place, (230, 230, 230))):
            image[:, place * self.PIXELS : (place + 1) * self.PIXELS] = colour
        return {"camera": image}


gymnasium.register("small/CartPole-v0", CartPole, max_episode_steps=500)
gymnasium.register("small/Pendulum-v0", Pendulum, max_episode_steps=200)
gymnasium.register("small/Seek-v0", Seek, max_episode_steps=50)


@dataclass(frozen=True)
class Options:
    """One run of one contender."""

    task: str
    seed: int
    out: Path
    recipe: Recipe


def options() -> Options:
    """Read the command line; what it does not say is the task's recipe."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", choices=RECIPES, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="a .jsonl file; it appears when the run is complete")
    for field in fields(Recipe):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=float if field.name == "rate" else int)
    values = vars(parser.parse_args())
    task, seed, out = (values.pop(name) for name in ("task", "seed", "out"))
    said = {name: value for name, value in values.items() if value is not None}
    return Options(task, seed, out, replace(RECIPES[task], **said))


class Curve:
    """The file of a run: a line about it, then one per evaluation. It grows as FILE.part and is renamed when done."""

    def __init__(self, run: Options, version: str, parameters: int) -> None:
        self.run, self.began = run, time.perf_counter()
        run.out.parent.mkdir(parents=True, exist_ok=True)
        self.file = self._part().open("w")
        about = {"task": run.task, "seed": run.seed, "version": version, "parameters": parameters}
        self._write(about | {"recipe": asdict(run.recipe)})
        print(f"{version}: {parameters:,} parameters, {run.recipe.updates:,} updates", flush=True)

    def add(self, steps: int, score: float, scores: Sequence[float] | None = None) -> None:
        """Note an evaluation after `steps` environment steps."""
        seconds, cpu = round(time.perf_counter() - self.began, 2), round(time.process_time(), 2)
        listed = None if scores is None else [round(float(one), 3) for one in scores]
        self._write({"steps": steps, "score": round(score, 3), "scores": listed, "seconds": seconds, "cpu": cpu})
        print(f"{steps:>7,} steps  score {score:8.1f}  {seconds:7.0f} s", flush=True)

    def close(self) -> None:
        """Say that the run is complete."""
        self.file.close()
        self._part().rename(self.run.out)

    def _part(self) -> Path:
        return self.run.out.with_name(self.run.out.name + ".part")

    def _write(self, line: dict[str, Any]) -> None:
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()
