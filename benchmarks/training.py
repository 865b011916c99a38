"""Transitions per second of whole DreamerV3 updates, beside sheeprl and torchrl in the same run.

An update is everything: world model, imagination, actor, critic, replay value loss, optimiser, slow critic. One
64x64x3 image, 16 sequences of 64 steps, 15 actions, float32, two threads, sizes 1m and 12m; each contender is a
process of its own (`benchmarks/peers`), they take turns, and the best time of each counts. Ours is eager, as users run
it; peers are run eager and with their own `torch.compile` option. sheeprl has our networks, to the parameter. torchrl's
own image networks stride where the published ones pool, a quarter of the arithmetic: they stand beside ours with
strides. "full" is torchrl with sheeprl's, and so with our networks.

Then our nano model with the six sensors of the driving world, and where the time of our updates goes.
Run: python benchmarks/training.py [--rounds 5] [--sizes 1m 12m] [--no-compile]; `make bench` installs the peers.
"""

from __future__ import annotations

import argparse
import json
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from wiser.train import config as presets
from wiser.train import learner as learning
from wiser.train.collect import Collector
from wiser.train.experience import replay_fields
from wiser.train.learner import Learner
from wiser.train.loop import build_model, train
from wiser.train.objectives import ordinary
from wiser.train.replay import Replay

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))

from serve import BATCH, LENGTH  # noqa: E402
from wiser_update import build  # noqa: E402

THREADS, GOAL = 2, 800
PHASES = ("encode", "observe", "decode", "imagine", "behave", "backward", "optimise", "rest")


class Contender:
    """A process that does an update whenever it is told to."""

    def __init__(self, script: str, *options: str) -> None:
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - open as long as the process runs
        command = [sys.executable, str(HERE / "peers" / f"{script}_update.py"), "--threads", str(THREADS), *options]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True
        )

    def answer(self, patience: float | None = None) -> dict[str, Any]:
        """Its next answer, or what went wrong under `error`."""
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], patience)[0]:
            return {"error": f"not ready within {patience:.0f} s"}
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.errors.seek(0)
        return {"error": (self.errors.read().strip().splitlines() or ["it ended without a word"])[-1]}

    def update(self) -> float:
        """Seconds of one update."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found = self.answer()
        return found["seconds"] if "seconds" in found else sys.exit(found["error"])

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.errors.close()


def contenders(size: str, compiled: bool) -> dict[str, Callable[[], Contender]]:
    """How to start each of them, ours first."""
    starts = {
        "wiser": partial(Contender, "wiser", "--size", size),
        "wiser strided": partial(Contender, "wiser", "--size", size, "--strided"),
    }
    if find_spec("sheeprl") is None or find_spec("torchrl") is None:
        print("the peers are not installed: make .venv/bench")
        return starts
    for script, *flags in (("sheeprl",), ("torchrl",), ("torchrl", "--full")):
        name = " ".join([script, *flags]).replace("--", "")
        start = partial(Contender, script, "--size", size, *flags)
        starts[name] = start
        if compiled:
            starts[f"{name} compiled"] = partial(start, "--compile")
    return starts


def ours_beside(name: str) -> str:
    """Which of ours does the same arithmetic."""
    return "wiser strided" if name in ("torchrl", "torchrl compiled", "wiser strided") else "wiser"


def compare(size: str, rounds: int, compiled: bool, patience: float) -> dict[str, float]:
    """Our rate, with the same arithmetic, divided by that of each contender; prints the table."""
    running: dict[str, Contender] = {}
    facts: dict[str, dict[str, Any]] = {}
    try:
        for name, start in contenders(size, compiled).items():
            begun = time.perf_counter()
            running[name] = start()
            facts[name] = running[name].answer(patience) | {"ready": time.perf_counter() - begun}
            if "error" in facts[name]:
                running.pop(name).stop()
        best = dict.fromkeys(running, float("inf"))
        for _ in range(rounds):
            for name, contender in running.items():
                best[name] = min(best[name], contender.update())
    finally:
        for contender in running.values():
            contender.stop()
    ratios = {name: seconds / best[ours_beside(name)] for name, seconds in best.items()}
    for name, found in facts.items():
        if name not in best:
            print(f"{size:>4} {name:<21} {found['error']}")
            continue
        print(
            f"{size:>4} {name:<21} {found['version']:<15} {found['parameters']:>11,} {best[name]:>9.3f} "
            f"{BATCH * LENGTH / best[name]:>14.1f} {ratios[name]:>12.2f} {found['ready']:>10.0f}"
        )
    return ratios


class Shares:
    """Time spent in each phase of an update, without what it spends in phases inside it."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._open: list[float] = []  # time of inner phases, one entry per phase under way

    def timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            self._open.append(0.0)
            try:
                return function(*args, **kwargs)
            finally:
                elapsed = time.perf_counter() - start
                self.seconds[phase] += elapsed - self._open.pop()
                if self._open:
                    self._open[-1] += elapsed

        return wrapper

    @contextmanager
    def watch(self, learner: Learner) -> Iterator[None]:
        """Count while inside. `decode` includes the other world-model losses, `behave` those of actor and critic."""
        places = (
            ("encode", learner.model, "embed"),
            ("encode", learner.model.fusion, "first_layer"),
            ("observe", learning, "observe"),
            ("decode", learning, "world_model_loss"),
            ("imagine", ordinary, "imagine"),
            ("behave", ordinary, "actor_critic_loss"),
            ("behave", ordinary, "replay_value_loss"),
            ("backward", torch.Tensor, "backward"),
            ("optimise", learner.optimiser, "step"),
        )
        with ExitStack() as stack:
            for phase, owner, name in places:
                stack.enter_context(mock.patch.object(owner, name, self.timed(phase, getattr(owner, name))))
            yield


def print_shares(label: str, learner: Learner, replay: Replay, updates: int) -> None:
    rng, shares = np.random.default_rng(0), Shares()
    learner.update(replay, rng, 0)
    with shares.watch(learner):
        whole = shares.timed("rest", learner.update)
        for _ in range(updates):
            whole(replay, rng, 0)
    total = sum(shares.seconds.values())
    print(f"{label:<10}", *(f"{name} {seconds / total:.0%}" for name, seconds in shares.seconds.items()), sep="  ")


def six_sensors(updates: int) -> tuple[float, float]:
    """Transitions per second of the updates alone, and of the whole training loop with all its collecting."""
    config = presets.stack(["driving/stop-sign", "nano", "dropout"])
    config = replace(config, threads=THREADS, updates=updates, log_every=min(25, updates), evaluate_episodes=1)
    lines: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        train(config, Path(folder), lines.append)
    loop = max(line["rate"] for line in lines if "rate" in line)
    model = build_model(config)
    learner, rng = Learner(config, model), np.random.default_rng(0)
    replay = Replay(replay_fields(config, model), config.rows, config.rows * 2 * config.length)
    collector = Collector(config, model, replay, seed=0)
    for _ in range(2 * config.length):
        collector.step(config.expert_share)
    best = float("inf")
    for _ in range(updates):
        start = time.perf_counter()
        learner.update(replay, rng, 0)
        best = min(best, time.perf_counter() - start)
    print_shares("nano x 6", learner, replay, 10)
    return config.batch * config.length / best, loop


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="updates of each contender that are timed")
    parser.add_argument("--sizes", nargs="+", default=["1m", "12m"], choices=["1m", "12m"])
    parser.add_argument("--no-compile", action="store_true", help="leave the peers' compiled forms out")
    parser.add_argument("--patience", type=float, default=3600.0, help="seconds a contender may take to be ready")
    parser.add_argument("--updates", type=int, default=200, help="updates of the run with six sensors")
    options = parser.parse_args()
    torch.set_num_threads(THREADS)

    print(f"{'size':>4} {'contender':<21} {'version':<15} {'parameters':>11} {'seconds':>9} {'transitions/s':>14} "
          f"{'ours / its':>12} {'ready in s':>10}")  # fmt: skip
    ratios = [compare(size, options.rounds, not options.no_compile, options.patience) for size in options.sizes]

    print("\nWhere our updates spend their time:")
    for size in options.sizes:
        print_shares(size, *build(size, BATCH, LENGTH), updates=2)
    alone, loop = six_sensors(options.updates)
    print(f"\nSix sensors, nano, 8 x 32: {alone:,.0f} transitions/s updating, {loop:,.0f} training with collecting "
          f"(goal {GOAL})")  # fmt: skip

    print("\nOur rate divided by a peer's, the smallest of all sizes and forms:")
    for name, peer in (("sheeprl", "sheeprl"), ("torchrl_same_networks", "torchrl full"), ("torchrl", "torchrl")):
        forms = (peer, f"{peer} compiled")
        found = [ratio for row in ratios for contender, ratio in row.items() if contender in forms]
        if found:
            print(f"train_vs_{name} ratio={min(found):.2f}")


if __name__ == "__main__":
    main()
