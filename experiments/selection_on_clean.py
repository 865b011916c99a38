"""Why does selecting sensors cost score while all of them work? Clean episodes, and what selection did in them.

Ways to choose: all sensors, random sets, greedy, exhaustive, exhaustive among sets of two or four sensors and more, and
calibrated (every sensor whose surprise, alone, is usual for it). Then the same clean episodes driven with all sensors,
while each way follows them with a belief of its own: how well do pixels that just changed (what moves, which is what
matters) come back from it, in general and at the moments that surprise the model most?
Run: python experiments/selection_on_clean.py [--episodes 30] [--fault glare]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
import torch

import wiser
from wiser import seeds
from wiser.envs.domain import Task, known_tasks
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.treatments import Treatment
from wiser.faults import Scenario
from wiser.guard import Calibration, Exhaustive, Guard, Judge
from wiser.guard.judges.exhaustive import SubsetSearch
from wiser.rollout import Moment, Trial, Wave
from wiser.worldmodel.protocol import WorldModel, unit_image

SEED = seeds.DESIGN[50_000]
MOVED = 0.1  # change of a pixel, of its range, from one frame to the next
SURPRISING = 0.05  # share of the steps


@dataclass(frozen=True)
class AtLeast:
    """Exhaustive search among sets of at least this many sensors."""

    fewest: int
    needs: ClassVar[tuple[str, ...]] = ()

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> SubsetSearch:
        """Keep the sets that are large enough."""
        every = Exhaustive().start(model, rows, calibration)
        return SubsetSearch(every.subsets[every.subsets.sum(1) >= self.fewest], every.required)


WAYS: dict[str, str | Judge] = {
    "all sensors": "none", "random sets": "random", "greedy": "greedy", "exhaustive": "exhaustive",
    "exhaustive, 2 or more": AtLeast(fewest=2), "exhaustive, 4 or more": AtLeast(fewest=4),
    "calibrated": "calibrated",
}  # fmt: skip


def drive(agent: WorldModel, task: Task, way: str | Judge, episodes: int, broken: Scenario | None) -> str:
    """Score, success, and the share of steps with 0, 1, ... N trusted sensors."""
    counts = np.zeros(len(agent.sensors) + 1, np.int64)

    def watch(wave: Wave, moment: Moment) -> None:
        trusted = np.asarray(moment.verdict.trusted).sum(1)[wave.book.counted]
        counts[:] += np.bincount(trusted, minlength=len(counts))

    driven = run_episodes(agent, Treatment(way), Trial(task.env, episodes, SEED, broken), watch)
    scores = np.array([episode.score for episode in driven])
    success = np.mean([episode.measures["success"] for episode in driven])
    shares = " ".join(f"{share:4.0%}" for share in counts / counts.sum())
    return f"{scores.mean():7.0f} +- {scores.std() / episodes**0.5:3.0f} {success:7.0%}    {shares}"


def follow(agent: WorldModel, task: Task, episodes: int) -> dict[str, np.ndarray]:
    """Per way and step: surprise, error of moving pixels, and whether it would have acted as with all sensors."""
    names = [sensor.name for sensor in agent.sensors]
    env = gymnasium.make_vec(task.env, episodes, vectorization_mode="vector_entry_point", sensors=names)
    guards = {way: Guard(agent, WAYS[way], rows=episodes, seed=SEED) for way in WAYS}
    seen: dict[str, list[np.ndarray]] = {way: [] for way in WAYS}
    obs, _ = env.reset(seed=SEED)
    before, running = obs, np.ones(episodes, bool)
    while running.any():
        acted = {way: guard.act(obs) for way, guard in guards.items()}
        chosen = acted["all sensors"][0]
        for way, guard in guards.items():
            action, verdict = acted[way]
            error = moving_error(agent, guard, obs, before)
            seen[way].append(np.stack([verdict.surprise, error, action == chosen], 1)[running])
            guard.executed(chosen)
        before = {name: obs[name].copy() for name in names}
        obs, _, terminated, truncated, _ = env.step(chosen)
        running &= ~(terminated | truncated)
    return {way: np.concatenate(rows) for way, rows in seen.items()}  # (steps, 3) each


@torch.no_grad()
def moving_error(agent: WorldModel, guard: Guard, obs: dict[str, Any], before: dict[str, Any]) -> np.ndarray:
    """Mean absolute error (B,) of decoded pixels that differ from the frame before; NaN where none does."""
    total, count = torch.zeros(guard.rows), torch.zeros(guard.rows)
    for name, guess in agent.decode(guard.belief).items():
        truth, past = (unit_image(torch.as_tensor(frames[name])) for frames in (obs, before))
        moved = (truth - past).abs() > MOVED
        total += ((guess - truth).abs() * moved).flatten(1).sum(1)
        count += moved.flatten(1).sum(1)
    return (total / count).numpy()


def main() -> None:
    """Print both tables for every task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=30)
    parser.add_argument("--fault", help="also drive with five sensors broken so")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for task in (task for task in known_tasks() if task.agents):
        agent = wiser.load(f"{task.agents}/dropout")
        scenarios: dict[str, Scenario | None] = {"clean": None}
        if options.fault:
            scenarios[options.fault] = Scenario(faults=(options.fault,), sensors=5, seed=SEED)
        for kind, broken in scenarios.items():
            print(
                f"\n{task.name}, {options.episodes} episodes, {kind}\n{'':22s}   score         success  0 to 6 trusted"
            )
            for label, way in WAYS.items():
                print(f"{label:22s} {drive(agent, task, way, options.episodes, broken)}", flush=True)
        steps = follow(agent, task, options.episodes)
        nats = steps["all sensors"][:, 0]
        startling = nats >= np.quantile(nats, 1 - SURPRISING)
        print(f"{'':22s} surprise  error of moving pixels  at surprising steps  acts as with all sensors")
        for label, values in steps.items():
            surprise, error, same = np.nanmean(values, 0)
            worst = np.nanmean(values[startling, 1])
            print(f"{label:22s} {surprise:8.2f}  {error:22.4f}  {worst:19.4f}  {same:24.0%}", flush=True)


if __name__ == "__main__":
    main()
