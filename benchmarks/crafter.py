"""Crafter: steps per second with all six representations, beside the package's own environment with its one picture.

Both take the same random moves; rounds alternate and the best of each counts. The package gets our ordered sets, so
that both live through the same worlds. Also: a step under a novelty, a decision of the survivor, and a reset.
Run: python benchmarks/crafter.py [--rounds 6]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from wiser.envs.crafter.env import CrafterEnv
from wiser.envs.crafter.game import OrderedWorld
from wiser.envs.crafter.novelty import Novelty
from wiser.envs.crafter.package import crafter
from wiser.envs.crafter.survivor import Survivor

STEPS, SEED = 150, 2


def ours(novelty: Novelty | None = None) -> tuple[Callable[[], object], Callable[[int], object]]:
    env = CrafterEnv()
    env.novelty = novelty
    return lambda: env.reset(seed=SEED), env.step


def package() -> tuple[Callable[[], object], Callable[[int], object]]:
    env = crafter.Env(seed=SEED)
    env._world.__class__ = OrderedWorld

    def reset() -> object:
        env._episode = 0
        return env.reset()

    return reset, env.step


def seconds(reset: Callable[[], object], step: Callable[[int], object]) -> tuple[float, float]:
    """Of a reset and of a step."""
    dice = np.random.default_rng(0)
    moves = dice.integers(1, 5, STEPS).tolist()
    start = time.perf_counter()
    reset()
    begun = time.perf_counter()
    for move in moves:
        step(move)
    return begun - start, (time.perf_counter() - begun) / STEPS


def decisions() -> float:
    """Seconds of one of the survivor's."""
    env = CrafterEnv()
    env.reset(seed=SEED)
    survivor, spent = Survivor(env.game), 0.0
    for _ in range(STEPS):
        start = time.perf_counter()
        action = survivor.action()
        spent += time.perf_counter() - start
        env.step(action)
    return spent / STEPS


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=6)
    rounds = parser.parse_args().rounds
    contenders = {"six representations": ours(), "with a novelty": ours(Novelty("hidden-enemy")), "package": package()}
    best = dict.fromkeys(contenders, (np.inf, np.inf))
    for number in range(rounds + 1):
        for name, (reset, step) in contenders.items():
            found = seconds(reset, step)
            if number:  # the first round compiles
                best[name] = (min(best[name][0], found[0]), min(best[name][1], found[1]))
    for name, (reset_seconds, step_seconds) in best.items():
        print(f"{name:20s} {1 / step_seconds:7.0f} steps/s   reset {1000 * reset_seconds:6.1f} ms")
    print(f"{'the survivor':20s} {1000 * decisions():7.2f} ms a decision")
    print(f"crafter ratio={best['package'][1] / best['six representations'][1]:.2f}")


if __name__ == "__main__":
    main()
