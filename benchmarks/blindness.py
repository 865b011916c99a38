"""What a bounded blindness saves: all sensors fail in mid-drive, and the car drives on by prediction, or stops.

On three tasks every sensor goes missing at step 60, for good. The same episodes are driven without a limit and with the
blind horizon that the agent's calibration has measured, past which the domain's controlled stop takes over. Also shown:
a stop at the first blind step, which needs no horizon.
Run: python benchmarks/blindness.py
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

import wiser
from wiser import seeds
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.treatments import Treatment
from wiser.faults import Scenario
from wiser.guard.blindness import BlindLimit
from wiser.guard.calibration import beside
from wiser.rollout import Trial
from wiser.threads import use_threads

TASKS = {"four-lane": "FourLane", "right-turn": "RightTurn", "stop-sign": "StopSign"}
ONSET = 60
ACCIDENTS = ("collided", "left the route", "ran the stop sign")


@dataclass(frozen=True)
class Blind:
    """What happened after the sensors failed."""

    episodes: int
    steps: int
    collisions: int
    accidents: int
    score: float

    def per_1000(self, count: int) -> float:
        return 1000 * count / max(1, self.steps)

    def line(self) -> str:
        return (
            f"collisions {self.per_1000(self.collisions):5.2f}, accidents {self.per_1000(self.accidents):5.2f} in "
            f"1,000 blind steps; {self.accidents} accidents in {self.episodes} episodes; score {self.score:.0f}"
        )


def drive(task: str, limit: BlindLimit, episodes: int) -> Blind:
    lost = Scenario(faults=("missing",), sensors=6, onset=ONSET, seed=seeds.TRYING.start)
    trial = Trial(f"wiser/{TASKS[task]}-v0", episodes, seeds.TRYING.start, lost)
    driven = run_episodes(wiser.load(f"{task}/dropout"), Treatment("auto", blind_limit=limit), trial)
    reached = [episode for episode in driven if episode.length > ONSET]
    return Blind(
        len(reached),
        sum(episode.length - ONSET for episode in reached),
        sum(episode.outcome == "collided" for episode in reached),
        sum(episode.outcome in ACCIDENTS for episode in reached),
        float(np.mean([episode.score for episode in reached])),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--threads", type=int, default=None)
    given = parser.parse_args()
    use_threads(given.threads)
    free, bounded = [], []
    for task in TASKS:
        model = wiser.load(f"{task}/dropout")
        known = beside(model.folder, model.digest)
        steps = known.horizon if known else None
        if steps is None:
            raise SystemExit(f"{task}/dropout has no blind horizon: wiser calibrate {task}/dropout {TASKS[task]}")
        for name, limit in (("no limit", None), (f"horizon, {steps} steps", "horizon"), ("stop at once", 0)):
            found = drive(task, limit, given.episodes)
            print(f"{task:11s} {name:18s} {found.line()}", flush=True)
            free += [found] * (limit is None)
            bounded += [found] * (limit == "horizon")
    before, after = (sum(b.accidents for b in side) / sum(b.steps for b in side) for side in (free, bounded))
    print(f"blind_fallback ratio={before / max(after, 1e-9):.1f}")


if __name__ == "__main__":
    main()
