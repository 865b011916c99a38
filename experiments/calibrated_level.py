"""At which quantile of its clean surprise should a sensor count as unusual? Calibrated selection on design seeds.

Each level meets the same episodes: clean, and with most or half of the sensors broken from the start or six seconds in.
The level with the best mean share of the unguarded clean score, clean episodes counted as much as all faults together,
is the default of `wiser.guard.Calibrated`; of two that tie, the one that masks less.
Run: python experiments/calibrated_level.py --episodes 24; its output is calibrated_level.txt beside it.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

import wiser
from wiser import seeds
from wiser.envs.domain import Task, known_tasks
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.treatments import Treatment
from wiser.faults import Scenario
from wiser.guard import Calibrated
from wiser.rollout import Trial
from wiser.worldmodel.protocol import WorldModel

SEED = seeds.DESIGN[60_000]
LEVELS = (0.99, 0.995, 0.999, 1.0)
SCENARIOS: dict[str, Scenario | None] = {
    "clean": None,
    "glare on 5": Scenario(faults=("glare",), sensors=5, seed=SEED),
    "chrome on 5": Scenario(faults=("chrome",), sensors=5, seed=SEED),
    "lag on 5": Scenario(faults=("lag",), sensors=5, seed=SEED),
    "lag on 3": Scenario(faults=("lag",), sensors=3, seed=SEED),
    "lag on 5 later": Scenario(faults=("lag",), sensors=5, onset=60, seed=SEED),
}


def drive(agent: WorldModel, task: Task, level: float | None, scenario: Scenario | None, episodes: int) -> np.ndarray:
    """Score of every episode; no level is the unguarded agent."""
    treatment = Treatment("none" if level is None else Calibrated(level=level))
    return np.array([e.score for e in run_episodes(agent, treatment, Trial(task.env, episodes, SEED, scenario))])


def main() -> None:
    """Print a table per task, then the mean shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    shares: dict[float, list[float]] = {level: [] for level in LEVELS}
    for task in (task for task in known_tasks() if task.agents):
        agent = wiser.load(f"{task.agents}/dropout")
        whole = drive(agent, task, None, None, options.episodes).mean()
        print(f"\n{task.name}, {options.episodes} episodes; unguarded and clean: {whole:.0f}")
        print(f"{'':16s}" + "".join(f"{level:>16g}" for level in LEVELS))
        for label, scenario in SCENARIOS.items():
            cells = []
            for level in LEVELS:
                scores = drive(agent, task, level, scenario, options.episodes)
                weight = len(SCENARIOS) - 1 if scenario is None else 1
                shares[level] += [scores.mean() / whole] * weight
                cells.append(f"{scores.mean():9.0f} +- {scores.std() / options.episodes**0.5:3.0f}")
            print(f"{label:16s}" + "".join(f"{cell:>16s}" for cell in cells), flush=True)
    print("\nmean share      " + "".join(f"{np.mean(values):16.3f}" for values in shares.values()))


if __name__ == "__main__":
    main()
