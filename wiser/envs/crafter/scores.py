"""The 0 and the 1 of the normalised score, measured: a random policy and the survivor.

`python -m wiser.envs.crafter.scores` plays 50 seeds with each and writes `scores.json` beside this file. The short task
is the beginning of the long one, so both are measured in the same episodes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from wiser import seeds as ranges
from wiser.envs.crafter.domain import LENGTHS, SCORES, crafter_score
from wiser.envs.crafter.env import CrafterEnv
from wiser.envs.crafter.names import ACHIEVEMENTS, ACTIONS
from wiser.envs.crafter.survivor import Survivor


def play(env: CrafterEnv, policy: str, seed: int) -> dict[str, dict[str, Any]]:
    """One episode, as it stands at the end of each task."""
    _, info = env.reset(seed=seed)
    survivor, dice = Survivor(env.game), np.random.default_rng([seed, 1])
    score, steps, over, found = 0.0, 0, False, {}
    while not over:
        action = survivor.action() if policy == "expert" else int(dice.integers(len(ACTIONS)))
        _, reward, terminated, truncated, info = env.step(action)
        score, steps, over = score + reward, steps + 1, terminated or truncated
        for task, length in LENGTHS.items():
            if (over or steps == length) and task not in found:
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


def main(seeds: int = 50, first: int = ranges.HELD_OUT.start, out: Path = SCORES) -> None:
    """Measure both policies.

    Args:
        seeds: how many episodes of each.
        first: the first seed.
        out: the file to write.
    """
    env, tasks = CrafterEnv(max(LENGTHS.values())), {name: {} for name in LENGTHS}  # type: dict[str, dict[str, Any]]
    for policy in ("random", "expert"):
        played = [play(env, policy, seed) for seed in range(first, first + seeds)]
        for name, found in tasks.items():
            found[policy] = summarise([episode[name] for episode in played])
            print(name, policy, json.dumps(found[policy]), flush=True)
    command = f"python -m wiser.envs.crafter.scores --seeds {seeds} --first {first}"
    out.write_text(json.dumps({"command": command, "tasks": tasks}, indent=2) + "\n")


if __name__ == "__main__":
    tyro.cli(main)
