"""Guarded environment steps per second: all episodes as one batch, beside one environment at a time.

The same agent, task, guard (greedy selection) and faults (glare on three of six sensors). One at a time is how the
published code evaluates; here it has our guard, so the ratio is that of batching alone.
Run: python benchmarks/rollout.py [--rows 32]
"""

from __future__ import annotations

import argparse
import time

import gymnasium
import torch

import wiser
import wiser.envs
from wiser.faults import Scenario, SensorFaults
from wiser.guard import Guard

ENV, AGENT, STEPS, ROUNDS = "wiser/RightTurn-v0", "right-turn/dropout", 60, 5
BROKEN = Scenario(faults=("glare",), sensors=3)


def steps_per_second(rows: int) -> float:
    """Best of several rounds. A batch of one row is an ordinary single environment."""
    agent = wiser.load(AGENT)
    names = tuple(sensor.name for sensor in agent.sensors)
    if rows == 1:
        env = SensorFaults(gymnasium.make(ENV, sensors=names), BROKEN)
        guard = Guard(agent, "greedy")
    else:
        vector = gymnasium.make_vec(ENV, rows, vectorization_mode="vector_entry_point", sensors=names)
        env, guard = SensorFaults(vector, BROKEN), Guard(agent, "greedy", rows=rows)
    best = 0.0
    for seed in range(ROUNDS):
        obs, _ = env.reset(seed=seed)
        guard.reset()
        started = time.perf_counter()
        for _ in range(STEPS):
            obs = env.step(guard.act(obs)[0])[0]
        best = max(best, rows * STEPS / (time.perf_counter() - started))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=32)
    rows = parser.parse_args().rows
    torch.set_num_threads(2)
    alone, together = steps_per_second(1), steps_per_second(rows)
    print(f"one at a time {alone:8,.0f} steps/s")
    print(f"batch of {rows:<4d} {together:8,.0f} steps/s")
    print(f"rollout_batched ratio={together / alone:.2f}")


if __name__ == "__main__":
    main()
