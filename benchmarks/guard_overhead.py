"""What the guard costs: one step unguarded, guarded (greedy, exhaustive, witnesses), and as the published code does it.

Witnesses twice: where they find nothing, and `alarmed`, where they suspect every sensor at every step.

Six 64x64x3 sensors, sizes 1m and 12m, batches of 1 and 16, one thread and two; then 2 to 12 sensors.
Run: python benchmarks/guard_overhead.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from wiser.guard import Calibration, Calibrator, Guard, Witnesses
from wiser.worldmodel import Actions, Belief, Sensor
from wiser.worldmodel.dreamer import DreamerConfig, DreamerV3
from wiser.worldmodel.latents import kl_categorical, one_hot_sample

ACTIONS = Actions(15)


def build(size: str, sensors: int) -> DreamerV3:
    names = tuple(Sensor(f"camera{i}", (64, 64, 3)) for i in range(sensors))
    return DreamerV3(DreamerConfig.of_size(size, names, ACTIONS)).eval().requires_grad_(False)


class Unguarded:
    """DreamerV3's own policy step."""

    def __init__(self, model: DreamerV3, rows: int) -> None:
        self.model = model
        self.belief, self.action = model.initial(rows), torch.zeros(rows, ACTIONS.size)
        self.first = torch.zeros(rows, dtype=torch.bool)
        self.generator = torch.Generator().manual_seed(0)
        self.everything = torch.ones(rows, 1, len(model.sensors), dtype=torch.bool)

    @torch.no_grad()
    def act(self, obs: dict[str, np.ndarray]) -> np.ndarray:
        readings = {name: torch.from_numpy(value) for name, value in obs.items()}
        self.belief = self.posterior(readings)[0]
        self.action = self.model.act(self.belief)
        return self.action.argmax(-1).numpy()

    def posterior(self, readings: dict[str, Tensor]) -> tuple[Belief, Tensor]:
        prior = self.model.predict(self.belief, self.action, self.first)
        logprobs = self.model.infer(prior, self.model.embed(readings), self.everything)[:, 0]
        noise = torch.rand(logprobs.shape[:2], generator=self.generator)
        return Belief(prior.deter, one_hot_sample(logprobs, noise)), kl_categorical(logprobs, prior.logprobs)


class Naive(Unguarded):
    """Greedy selection as published: every candidate masked in raw space and run through the whole model in turn."""

    @torch.no_grad()
    def act(self, obs: dict[str, np.ndarray]) -> np.ndarray:
        readings = {name: torch.from_numpy(value) for name, value in obs.items()}
        names = list(readings)
        blank = {name: torch.zeros_like(value) for name, value in readings.items()}
        tried = [self.posterior({**blank, name: readings[name]}) for name in names]
        order = torch.stack([nats for _, nats in tried]).mean(1).argsort(descending=True)  # as published
        worst = names[int(order[0])]
        tried.append(self.posterior({**readings, worst: blank[worst]}))
        tried.append(self.posterior(readings))
        self.belief = min(tried, key=lambda candidate: float(candidate[1].mean()))[0]
        self.action = self.model.act(self.belief)
        return self.action.argmax(-1).numpy()


def best_times(steps: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """Best time of each form, measured in turns so that a busy moment hits all of them."""
    best = dict.fromkeys(steps, float("inf"))
    for step in steps.values():
        step()
    end = time.perf_counter() + seconds
    rounds = 0
    while time.perf_counter() < end or rounds < 5:
        rounds += 1
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def measure(size: str, sensors: int, rows: int, seconds: float) -> dict[str, float]:
    model = build(size, sensors)
    rng = np.random.default_rng(0)
    obs = {s.name: rng.integers(0, 256, (rows, *s.shape), dtype=np.uint8) for s in model.sensors}
    usual = calibrated(model, rng)
    agents = {
        "unguarded": Unguarded(model, rows),
        "greedy": Guard(model, "greedy", rows=rows),
        "exhaustive": Guard(model, "exhaustive", rows=rows),
        "witnesses": Guard(model, "witnesses", rows=rows, calibration=usual),
        "alarmed": Guard(model, Witnesses(false_alarms=999.9), rows=rows, calibration=usual),
        "naive": Naive(model, rows),
    }
    return best_times({name: (lambda agent=agent: agent.act(obs)) for name, agent in agents.items()}, seconds)


def calibrated(model: DreamerV3, rng: np.random.Generator) -> Calibration:
    """What is usual where all readings are noise."""
    calibrator = Calibrator(model, 4, scores=("surprise",), judges=(Witnesses(),))
    for step in range(40):
        obs = {s.name: rng.integers(0, 256, (4, *s.shape), dtype=np.uint8) for s in model.sensors}
        calibrator.guard.act(obs, np.full(4, step == 0))
        calibrator.take()
    return calibrator.calibration()


def report(label: str, best: dict[str, float]) -> dict[str, float]:
    ratios = {
        "greedy": best["greedy"] / best["unguarded"],
        "exhaustive": best["exhaustive"] / best["unguarded"],
        "witnesses": best["witnesses"] / best["unguarded"],
        "alarmed": best["alarmed"] / best["unguarded"],
        "naive": best["naive"] / best["greedy"],
    }
    times = "  ".join(f"{name} {seconds * 1e3:7.2f} ms" for name, seconds in best.items())
    costs = "  ".join(f"{name} x{ratio:.2f}" for name, ratio in ratios.items())
    print(f"{label:24s} {times}   {costs}")
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="time spent on each setting")
    seconds = parser.parse_args().seconds
    rows: list[dict[str, float]] = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for size in ("1m", "12m"):
            for batch in (1, 16):
                label = f"{size} B={batch} {threads} thread{'s' * (threads > 1)}"
                rows.append(report(label, measure(size, 6, batch, seconds)))
    print("\nHow the cost grows with the number of sensors (size 1m, B = 1, one thread):")
    torch.set_num_threads(1)
    for sensors in range(2, 13):
        report(f"N={sensors}", measure("1m", sensors, 1, seconds / 3))
    print("\nGuarded / unguarded, worst of the eight settings; naive / greedy, smallest of them:")
    print(f"guard_greedy ratio={max(row['greedy'] for row in rows):.2f}")
    print(f"guard_exhaustive ratio={max(row['exhaustive'] for row in rows):.2f}")
    print(f"guard_witnesses ratio={max(row['witnesses'] for row in rows):.2f}")
    print(f"guard_alarmed ratio={max(row['alarmed'] for row in rows):.2f}")
    print(f"guard_naive ratio={min(row['naive'] for row in rows):.2f}")


if __name__ == "__main__":
    main()
