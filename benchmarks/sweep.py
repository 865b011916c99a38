"""Seconds of a sweep's cells through shared rows, beside each cell by itself.

By itself a cell has as many rows as episodes, and all of them wait for the longest. Shared, a row goes on with the next
episode, of whichever cell, as soon as one is over. The episodes are the same, bit for bit; this script checks it.
Run: python benchmarks/sweep.py [--episodes 10] [--rounds 3]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch

import wiser
from wiser import seeds
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.relay import run_trials
from wiser.evaluate.treatments import TREATMENTS, Treatment
from wiser.faults import Scenario
from wiser.rollout import Trial

SEED, ROWS = seeds.DESIGN[60_000], 32
FAULTS = ("chrome", "gaussian", "glare", "jitter", "lag", "occlusion")
FORMS = {  # agent, environment, treatment, sensors that fail
    "one sensor, unguarded": ("four-lane/single", "wiser/FourLane-v0", "none", 1),
    "one sensor, rejection": ("four-lane/single", "wiser/FourLane-v0", "reject", 1),
    "six sensors, witnesses": ("four-lane/dropout", "wiser/FourLane-v0", "witnesses", 5),
}


def apart(agent: Any, treatment: Treatment, trials: list[Trial]) -> Any:
    """Each trial by itself."""
    return [run_episodes(agent, treatment, trial) for trial in trials]


def compare(agent: Any, treatment: Treatment, trials: list[Trial], rounds: int) -> list[float]:
    """Seconds apart and shared, the best of some rounds."""
    best = [float("inf")] * 2
    for _ in range(rounds):
        driven = []
        for form, drive in enumerate((apart, run_trials)):
            began = time.perf_counter()
            driven.append(drive(agent, treatment, trials))
            best[form] = min(best[form], time.perf_counter() - began)
        if driven[0] != driven[1]:
            raise RuntimeError("the episodes are not the same")
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    totals = [0.0, 0.0]
    for name, (model, env, how, failures) in FORMS.items():
        agent, treatment = wiser.load(model), TREATMENTS[how]
        harms = [Scenario(faults=(fault,), sensors=failures, proportion=0.75, seed=SEED) for fault in FAULTS]
        trials = [Trial(env, options.episodes, SEED, harm, rows=ROWS) for harm in harms]
        run_episodes(agent, treatment, Trial(env, 8, SEED, longest=3))  # kernels are compiled, caches are warm
        best = compare(agent, treatment, trials, options.rounds)
        totals = [totals[0] + best[0], totals[1] + best[1]]
        print(f"{name:24s} apart {best[0]:6.1f} s, shared {best[1]:6.1f} s, {best[0] / best[1]:.2f}", flush=True)
    print(f"sweep_shared_rows ratio={totals[0] / totals[1]:.2f}")


if __name__ == "__main__":
    main()
