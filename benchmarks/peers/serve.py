"""One contender of the training benchmark: builds an update, says what it is, then runs it whenever it is told to.

Every contender is a process of its own, so that none inherits another's threads, caches or memory. A line on standard
input asks for two updates; the answer is the time of the second in seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

BATCH, LENGTH, IMAGE, ACTIONS = 16, 64, (64, 64, 3), 15
# recurrent units, hidden units, classes, channels, units of the heads, as in DreamerV3's size1m and size12m
SIZES = {
    "1m": {"deter": 512, "hidden": 64, "classes": 4, "depth": 4, "units": 64},
    "12m": {"deter": 2048, "hidden": 256, "classes": 16, "depth": 16, "units": 256},
}


def arguments(*flags: str) -> argparse.Namespace:
    """What a contender can be told; `flags` are its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="1m")
    parser.add_argument("--threads", type=int, default=2)
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--length", type=int, default=LENGTH)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    return options


def experience(batch: int, length: int) -> dict[str, np.ndarray]:
    """Random steps (B, T, ...): image, index of the action, reward, and where an episode begins."""
    rng = np.random.default_rng(0)
    return {
        "image": rng.integers(0, 256, (batch, length, *IMAGE), np.uint8),
        "action": rng.integers(0, ACTIONS, (batch, length)),
        "reward": rng.normal(size=(batch, length)).astype(np.float32),
        "first": rng.random((batch, length)) < 0.02,
    }


def parameter_count(*modules: torch.nn.Module) -> int:
    return sum(p.numel() for module in modules for p in module.parameters())


def serve(update: Callable[[], object], **facts: Any) -> None:
    """Run two updates to warm up and then two for every line read."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not look like an answer
    update()
    update()
    print(json.dumps(facts), file=answers, flush=True)
    for _ in sys.stdin:
        update()  # as in training, what is timed comes right after another one: memory is at hand again
        start = time.perf_counter()
        update()
        print(json.dumps({"seconds": time.perf_counter() - start}), file=answers, flush=True)
