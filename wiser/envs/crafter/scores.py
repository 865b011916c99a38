"""The 0 and the 1 of the normalised score, measured: a random policy and the survivor.

`python -m wiser.envs.crafter.scores` plays 30 seeds with each and writes `scores.json` beside this file. The short task
is the beginning of the long one: `--tasks Crafter CrafterShort` measures both in the same episodes, and takes longer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from wiser import seeds as ranges
from wiser.envs.crafter.domain import LENGTHS, SCORES, crafter_score
from wiser.envs.crafter.env import CrafterEnv
from wiser.envs.crafter.names import ACHIEVEMENTS, ACTIONS
from wiser.envs.crafter.survivor import Survivor


def play(env: CrafterEnv, policy: str, seed: int, tasks: Sequence[str]) -> dict[str, dict[str, Any]]:
    """One episode, as it stands at the end of each task."""
    _, info = env.reset(seed=seed)
    survivor, dice = Survivor(env.game), np.random.default_rng([seed, 1])
    score, steps, over, found = 0.0, 0, False, {}
    while not over:
        action = survivor.action() if policy == "expert" else int(dice.integers(len(ACTIONS)))
        _, reward, terminated, truncated, info = env.step(action)
        score, steps, over = score + reward, steps + 1, terminated or truncated
        for task in tasks:
            if (over or steps == LENGTHS[task]) and task not in found:
                unlocked = {name: float(info[name]) for name in ACHIEVEMENTS}
                found[task] = {"score": score, "steps": steps, "died": float(terminated), "unlocked": unlocked}
    return found


def summarise(episodes: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over episodes, and the Crafter score."""
    unlocked = [episode["unlocked"] for episode in episodes]
    scores = [episode["score"] for episode in episodes]
    return {
        "score": round(float(np.mean(scores)), 2),
        "std": round(float(np.std(scores)), 2),
        "crafter_score": round(crafter_score(unlocked), 2),
        "unlocked": round(float(np.mean([sum(one.values()) for one in unlocked])), 2),
        "steps": round(float(np.mean([episode["steps"] for episode in episodes])), 1),
        "died": round(float(np.mean([episode["died"] for episode in episodes])), 2),
        "success": {name: round(float(np.mean([one[name] for one in unlocked])), 2) for name in ACHIEVEMENTS},
    }


def main(
    seeds: int = 30,
    first: int = ranges.HELD_OUT.start,
    tasks: tuple[str, ...] = ("CrafterShort",),
    out: Path = SCORES,
) -> None:
    """Measure both policies.

    Args:
        seeds: how many episodes of each.
        first: the first seed.
        tasks: which tasks.
        out: the file to write.
    """
    env = CrafterEnv(max(LENGTHS[task] for task in tasks))
    measured: dict[str, dict[str, Any]] = {task: {} for task in tasks}
    for policy in ("random", "expert"):
        played = [play(env, policy, seed, tasks) for seed in range(first, first + seeds)]
        for task, found in measured.items():
            found[policy] = summarise([episode[task] for episode in played])
            print(task, policy, json.dumps(found[policy]), flush=True)
    command = f"python -m wiser.envs.crafter.scores --seeds {seeds} --first {first} --tasks {' '.join(tasks)}"
    out.write_text(json.dumps({"command": command, "tasks": measured}, indent=2) + "\n")


if __name__ == "__main__":
    tyro.cli(main)
