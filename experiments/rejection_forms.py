"""What does rejection sampling gain or lose, part by part? One sensor, broken at most of the steps, six forms of it.

Without a guard; as in the paper; without its denoiser D; without D and without context resets; the same with surprise
as M; and with either test (`predict` among the treatments).
Run: python experiments/rejection_forms.py [--faults glare gaussian] [--proportion 0.75] [--run FOLDER]
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

import wiser
from wiser import seeds
from wiser.envs.domain import known_tasks
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.treatments import Treatment
from wiser.faults import Scenario
from wiser.guard import Judge, Rejection
from wiser.rollout import Trial
from wiser.worldmodel.store import shipped

SEED = seeds.DESIGN[50_000]
FORMS: dict[str, str | Judge] = {
    "unguarded": "none",
    "paper": Rejection(),
    "no denoiser": Rejection(denoiser=None),
    "no denoiser, no resets": Rejection(denoiser=None, transitions="keep"),
    "surprise as M": Rejection(score="surprise", denoiser=None, transitions="keep"),
    "either test": "predict",
}


def main() -> None:
    """Print a table per task and fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", nargs="+", default=["glare", "gaussian"])
    parser.add_argument("--proportion", type=float, default=0.75)
    parser.add_argument("--episodes", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--run", help="agents of another training run: a folder with TASK/single in it")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for task in (task for task in known_tasks() if f"{task.agents}/single" in shipped()):
        name = f"{task.agents}/single"
        agent = wiser.load(f"{options.run}/{name}" if options.run else name)
        for fault in options.faults:
            broken = Scenario(faults=(fault,), sensors=1, intensity=1.0, proportion=options.proportion, seed=SEED)
            print(f"\n{task.name}, {fault} at {options.proportion:.0%} of the steps, {options.episodes} episodes")
            print(f"{'':24s}  score         success  grounded  repaired  predicted")
            for form, judge in FORMS.items():
                driven = run_episodes(agent, Treatment(judge), Trial(task.env, options.episodes, SEED, broken))
                scores = np.array([episode.score for episode in driven])
                modes = ("grounded", "denoised", "predictive")
                shares = [np.mean([episode.measures["success"] for episode in driven])]
                shares += [np.mean([episode.modes.get(mode, 0.0) for episode in driven]) for mode in modes]
                text = "  ".join(f"{share:8.0%}" for share in shares)
                print(
                    f"{form:24s} {scores.mean():6.0f} +- {scores.std() / options.episodes**0.5:3.0f} {text}", flush=True
                )


if __name__ == "__main__":
    main()
