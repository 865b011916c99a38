"""Which seeds are for what, and independent random numbers for every purpose.

An episode that something was trained, tuned or calibrated on proves nothing about it: every use has its own seeds.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np

TRAINING = range(0, 900_000)
DESIGN = range(900_000, 1_000_000)  # where ideas are tried and settings are chosen
HELD_OUT = range(1_000_000, 1_100_000)  # evaluations during training
INDEPENDENT = range(1_100_000, 2_000_000)  # used by nothing here: for whoever wants to check what we say
SHIPPING = range(2_000_000, 3_000_000)  # final evaluation of agents that ship
CALIBRATION = range(3_000_000, 4_000_000)
EXAMPLES = range(4_000_000, 5_000_000)
TRYING = range(5_000_000, 6_000_000)  # what people try by hand: `wiser eval`, `wiser.benchmark`
SWEEPS = range(6_000_000, 7_000_000)  # published figures: 10,000 for each seed of a plan
DEMO = range(7_000_000, 7_100_000)


def stream(purpose: str, seed: int, *part: int) -> np.random.SeedSequence:
    """Source of random numbers for one purpose, and one `part` of it (a row, a process, ...), of a seed.

    Streams of different purposes are independent of each other and of an environment that has the same seed.
    """
    return np.random.SeedSequence(seed, spawn_key=(crc32(purpose.encode()), *part))


def generator(purpose: str, seed: int, *part: int) -> np.random.Generator:
    """Random numbers from `stream`."""
    return np.random.default_rng(stream(purpose, seed, *part))
