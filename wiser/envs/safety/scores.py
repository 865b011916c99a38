"""The 0 and the 1 of the normalised score, measured: a random policy and the scripted pilot.

`python -m wiser.envs.safety.scores` drives 30 seeds with each, without pictures, and writes `scores.json` beside this
file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from wiser import seeds as ranges
from wiser.envs.safety.course import Course
from wiser.envs.safety.domain import SCORES, score_cost_ratio
from wiser.envs.safety.names import TASKS
from wiser.envs.safety.pilot import Pilot


def drive(course: Course, policy: str, seed: int) -> dict[str, float]:
    """One episode."""
    course.begin(seed)
    pilot, dice = Pilot(course), np.random.default_rng([seed, 1])
    told, over = {"score": 0.0, "cost": 0.0, "goals": 0.0}, False
    while not over:
        action = pilot.action() if policy == "expert" else dice.uniform(-1, 1, 2)
        reward, cost, goals, terminated, truncated = course.act(np.asarray(action, np.float64))
        for name, value in (("score", reward), ("cost", cost), ("goals", goals)):
            told[name] += value
        over = terminated or truncated
    return told


def summarise(episodes: list[dict[str, float]]) -> dict[str, float]:
    """Means over episodes, the spread of scores and costs, and the score-cost ratio."""
    columns = {name: np.array([episode[name] for episode in episodes]) for name in episodes[0]}
    means = {name: round(float(values.mean()), 2) for name, values in columns.items()}
    spread = {f"{name}_std": round(float(columns[name].std()), 2) for name in ("score", "cost")}
    return means | spread | {"harmless": _share(columns["cost"] == 0), "ratio": round(score_cost_ratio(episodes), 2)}


def _share(flags: Any) -> float:
    return round(float(flags.mean()), 2)


def main(
    seeds: int = 30,
    first: int = ranges.HELD_OUT.start,
    tasks: tuple[str, ...] = tuple(TASKS),
    out: Path = SCORES,
) -> None:
    """Measure both policies.

    Args:
        seeds: how many episodes of each.
        first: the first seed.
        tasks: which tasks.
        out: the file to write; what it says of other tasks stays.
    """
    measured: dict[str, Any] = json.loads(out.read_text())["tasks"] if out.exists() else {}
    for task in tasks:
        course = Course(task)
        found = {}
        for policy in ("random", "expert"):
            found[policy] = summarise([drive(course, policy, seed) for seed in range(first, first + seeds)])
            print(task, policy, json.dumps(found[policy]), flush=True)
        measured[task] = found
    command = f"python -m wiser.envs.safety.scores --seeds {seeds} --first {first} --tasks {' '.join(measured)}"
    out.write_text(json.dumps({"command": command, "tasks": measured}, indent=2) + "\n")


if __name__ == "__main__":
    tyro.cli(main)
