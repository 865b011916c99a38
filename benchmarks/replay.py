"""Replay: steps added and sequences sampled per second, and resident memory, in memory and on disk.

One 64x64x3 image per step, 16 rows, batches of 16 x 64, beside a plain deque of steps that stacks its samples.
Run: python benchmarks/replay.py [--steps 1000000]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import deque
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from wiser.train.replay import Field, Replay

ROWS, BATCH, LENGTH, SAMPLES = 16, 16, 64, 50


def resident_megabytes() -> dict[str, float]:
    """Memory that is only ours, and pages of files that the system takes back when it needs them."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {"own": int(status["RssAnon"].split()[0]) / 1024, "of files": int(status["RssFile"].split()[0]) / 1024}


def step(t: int) -> dict[str, np.ndarray]:
    return {"image": np.full((ROWS, 64, 64, 3), t % 251, np.uint8), "reward": np.full(ROWS, t, np.float32)}


def ours(steps: int, on_disk: bool) -> dict[str, float]:
    fields = {"image": Field((64, 64, 3), "uint8"), "reward": Field((), "float32")}
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay(fields, ROWS, steps, Path(folder) if on_disk else None)
        start = time.perf_counter()
        for t in range(steps // ROWS):
            replay.add(step(t), LENGTH)
        adding = time.perf_counter() - start
        rng = np.random.default_rng(0)
        start = time.perf_counter()
        for _ in range(SAMPLES):
            replay.sample(BATCH, LENGTH, rng)
        sampling = time.perf_counter() - start
        return {"added": steps / adding, "sampled": SAMPLES * BATCH * LENGTH / sampling, **resident_megabytes()}


def naive(steps: int) -> dict[str, float]:
    rows: list[deque[dict[str, np.ndarray]]] = [deque(maxlen=steps // ROWS) for _ in range(ROWS)]
    start = time.perf_counter()
    for t in range(steps // ROWS):
        values = step(t)
        for row in range(ROWS):
            rows[row].append({name: value[row].copy() for name, value in values.items()})
    adding = time.perf_counter() - start
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    for _ in range(SAMPLES):
        places = zip(rng.integers(0, ROWS, BATCH), rng.integers(0, steps // ROWS - LENGTH, BATCH), strict=True)
        chosen = [[rows[row][begin + t] for t in range(LENGTH)] for row, begin in places]
        _ = {name: np.stack([[s[name] for s in sequence] for sequence in chosen]) for name in ("image", "reward")}
    sampling = time.perf_counter() - start
    return {"added": steps / adding, "sampled": SAMPLES * BATCH * LENGTH / sampling, **resident_megabytes()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200_000, help="frames in the replay, 12 kB each")
    steps = parser.parse_args().steps
    jobs = {"in memory": (ours, steps, False), "on disk": (ours, steps, True), "deque": (naive, min(steps, 200_000))}
    found = {}
    for name, (function, *arguments) in jobs.items():
        with get_context("spawn").Pool(1) as pool:  # a process of its own, so that memory is counted from zero
            found[name] = pool.apply(function, arguments)
        print(f"{name:10s} {found[name]['added']:12,.0f} steps added/s {found[name]['sampled']:12,.0f} steps sampled/s "
              f"resident: {found[name]['own']:8,.0f} MB own, {found[name]['of files']:8,.0f} MB of files")  # fmt: skip
    print(f"replay_sampling ratio={found['in memory']['sampled'] / found['deque']['sampled']:.2f}")


if __name__ == "__main__":
    main()
