"""A sweep nobody has to run: cells and episodes that follow from a number alone."""

import json
from functools import cache

import numpy as np

from wiser.evaluate import Cell, Detection, DetectionTally, Episode, Ledger

SENSORS = ("camera", "lidar", "speed")


def cell(seed: int) -> Cell:
    return Cell(
        task="StopSign",
        contender="confident",
        agent="tiny@0123",
        treatment="greedy@4567",
        disturbance="glare",
        intensity=0.5,
        proportion=1.0,
        failures=1,
        seed=seed,
        episodes=4,
    )


@cache
def detection(seed: int) -> Detection:
    rng = np.random.default_rng(seed)
    tally = DetectionTally(1, SENSORS)
    for step in range(10):
        broken = np.array([[step > 3, False, False]])
        trusted = rng.random((1, 3)) < 0.7
        tally.add(broken, trusted, rng.exponential(1, 1), rng.exponential(1, (1, 3)), np.ones(1, bool))
    return tally.finish(0)


def episodes(seed: int, count: int = 4) -> list[Episode]:
    rng = np.random.default_rng(seed)
    return [
        Episode(
            index=index,
            env_seed=seed + index,
            fault_seed=7,
            failed=("camera",),
            score=float(rng.normal()),
            length=50,
            outcome="arrived",
            measures={"success": float(rng.integers(2))},
            modes={"grounded": 0.9, "predictive": 0.1},
            detection=detection((seed + index) % 5),
            seconds=float(np.random.default_rng().random()),
        )
        for index in range(count)
    ]


def write(ledger: Ledger, seeds, count: int = 4) -> None:
    """Write what is missing, as a sweep does that resumes."""
    finished = ledger.finished()
    for seed in seeds:
        if cell(seed).key not in finished:
            ledger.write(cell(seed), episodes(seed, count), seconds=1.0)


def without_timing(rows: list[dict]) -> str:
    return json.dumps([{name: value for name, value in row.items() if name != "seconds"} for row in rows])
