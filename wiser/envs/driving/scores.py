"""The 0 and the 1 of the expert-normalised score, measured: a random policy and the scripted driver.

`python -m wiser.envs.driving.scores` drives 200 seeds of every task and writes `scores.json` beside this file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from wiser.envs.driving import dynamics, expert
from wiser.envs.driving.domain import SCORES
from wiser.envs.driving.embedded import EmbeddedWorld
from wiser.envs.driving.tasks import TASKS, Task


def run_episodes(task: Task, policy: str, seeds: list[int]) -> dict[str, Any]:
    """One episode per seed, all at once: mean score and how the episodes ended."""
    batch = len(seeds)
    world, active = EmbeddedWorld(task, batch), np.ones(batch, np.bool_)
    world.reset(active, seeds)
    dice = [np.random.default_rng([seed, 1]) for seed in seeds]
    total, ended = np.zeros(batch), {name: np.zeros(batch, np.bool_) for name in ("success", "collision", "truncated")}
    while active.any():
        if policy == "expert":
            actions = expert.to_discrete(world.expert_commands(), task.steers)
        else:
            actions = np.array([die.integers(15) for die in dice])
        result = world.step(*dynamics.decode_actions(task, actions, False), active)
        total += np.where(active, result.terms.total(), 0.0)
        ended["success"] |= result.outcome.success() & active
        ended["collision"] |= result.outcome.collision & active
        ended["truncated"] |= result.truncated & active
        active &= ~(result.terminated | result.truncated)
    return {
        "score": round(float(total.mean()), 2),
        "std": round(float(total.std()), 2),
        "steps": round(float(world.progress.steps.mean()), 1),
        **{name: round(float(value.mean()), 4) for name, value in ended.items()},
    }


def main(seeds: int = 200, first: int = 0, out: Path = SCORES) -> None:
    """Measure both policies on every task.

    Args:
        seeds: how many episodes of each.
        first: the first seed.
        out: the file to write.
    """
    chosen = list(range(first, first + seeds))
    scores: dict[str, Any] = {
        "command": f"python -m wiser.envs.driving.scores --seeds {seeds} --first {first}",
        "tasks": {},
    }
    for name, task in TASKS.items():
        scores["tasks"][name] = {policy: run_episodes(task, policy, chosen) for policy in ("random", "expert")}
        print(name, json.dumps(scores["tasks"][name]))
    out.write_text(json.dumps(scores, indent=2) + "\n")


if __name__ == "__main__":
    tyro.cli(main)
