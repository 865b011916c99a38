"""Guarded environment steps per second on two cores: as `wiser sweep` evaluates, beside one environment at a time.

The same agent, task, guard (greedy selection) and faults (glare on three of six sensors) for all. One environment at a
time in one process is how the published code evaluates; here it has our guard, so the ratio is that of batches and
workers alone. The forms in between say which of the two brings how much. A single environment gets one thread, with
which it is fastest; a batch in one process gets both.
Run: python benchmarks/rollout.py [--rows 32]
"""

from __future__ import annotations

import argparse
import time
from multiprocessing import get_context
from typing import Any

import gymnasium
import torch

import wiser
import wiser.envs
from wiser.faults import Scenario, SensorFaults
from wiser.guard import Guard

ENV, AGENT, STEPS, ROUNDS, CORES = "wiser/RightTurn-v0", "right-turn/dropout", 60, 6, 2
BROKEN = Scenario(faults=("glare",), sensors=3)


def measure(rows: int, threads: int, together: Any, rates: Any) -> None:
    """Put the best of several rounds into `rates`; every round begins together with those of other processes."""
    torch.set_num_threads(threads)
    agent = wiser.load(AGENT)
    names = tuple(sensor.name for sensor in agent.sensors)
    if rows == 1:  # an ordinary single environment
        env = SensorFaults(gymnasium.make(ENV, sensors=names), BROKEN)
        guard = Guard(agent, "greedy")
    else:
        vector = gymnasium.make_vec(ENV, rows, vectorization_mode="vector_entry_point", sensors=names)
        env, guard = SensorFaults(vector, BROKEN), Guard(agent, "greedy", rows=rows)
    best = 0.0
    for seed in range(ROUNDS):
        obs, _ = env.reset(seed=seed)
        guard.reset()
        together.wait(300)
        started = time.perf_counter()
        for _ in range(STEPS):
            obs = env.step(guard.act(obs)[0])[0]
        best = max(best, rows * STEPS / (time.perf_counter() - started))
    rates.put(best)


def steps_per_second(rows: int, processes: int) -> float:
    """Of all processes together."""
    context = get_context("spawn")
    threads = 1 if rows == 1 else CORES // processes
    together, rates = context.Barrier(processes), context.Queue()
    work = [context.Process(target=measure, args=(rows, threads, together, rates)) for _ in range(processes)]
    for process in work:
        process.start()
    for process in work:
        process.join()
        if process.exitcode:
            raise RuntimeError("a process failed; its error is above")
    return sum(rates.get() for _ in work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=32)
    rows = parser.parse_args().rows
    forms = {
        "one environment at a time": (1, 1),
        f"one environment in each of {CORES} processes": (1, CORES),
        f"a batch of {rows} in one process": (rows, 1),
        f"a batch of {rows} in each of {CORES} processes": (rows, CORES),
    }
    rates = {name: steps_per_second(*form) for name, form in forms.items()}
    published, *_, ours = rates.values()
    for name, rate in rates.items():
        print(f"{name:38s} {rate:8,.0f} steps/s {rate / published:6.2f}")
    print(f"rollout_batched ratio={ours / published:.2f}")


if __name__ == "__main__":
    main()
