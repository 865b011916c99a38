"""How many threads torch computes with."""

from __future__ import annotations

import os

from wiser.checks import at_least

MOST = 4
"""Threads that are taken without being asked for: models that act step by step are small, and threads wait for each
other longer than they compute."""


def use_threads(threads: int | None = None) -> None:
    """Have torch use so many threads; by default as many as OMP_NUM_THREADS says, or as there are cores for them."""
    import torch

    at_least(1, threads=threads)
    if threads is not None:
        torch.set_num_threads(threads)
    elif "OMP_NUM_THREADS" not in os.environ:  # torch has followed it already
        torch.set_num_threads(min(usable_cores(), MOST))


def usable_cores() -> int:
    """Cores that this process may run on, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
