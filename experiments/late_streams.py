"""Is a reading of the past better than none? All sensors but one are late from the first step on, and that one is lost.

A reading that is k steps late belongs to the belief k steps ago: `replayed` follows the past with it, one step after
another, and from there repeats the last k actions with its eyes shut. It is told which sensor is sound and how late the
others are: what is measured is what could be gained.
Run: python experiments/late_streams.py [--task FourLane]
"""

from __future__ import annotations

import argparse
from collections import deque
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

import wiser
from wiser import seeds
from wiser.envs.domain import find_task
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.treatments import Treatment
from wiser.faults import Scenario
from wiser.guard import Judge
from wiser.guard.judges.judge import Evidence, Ruling
from wiser.rollout import Trial
from wiser.worldmodel.latents import kl_categorical, one_hot_sample
from wiser.worldmodel.protocol import Belief, Prior, WorldModel

SEED = seeds.DESIGN[71_000]
DELAY = 20  # steps, of fault `lag` at intensity 1


@dataclass(frozen=True)
class Both:
    """Two scenarios at once."""

    late: Scenario
    lost: Scenario
    name: str = "late and lost"
    seed: int = SEED

    def apply(self, env: Any, row: int) -> Any:
        """Break some sensors one way and another one the other."""
        return self.lost.apply(self.late.apply(env, row), row)


@dataclass(frozen=True)
class Told:
    """Trusts one sensor while it is there, then what `then` says: nothing, the late ones as they are, or replayed."""

    fresh: str
    then: str
    needs: ClassVar[tuple[str, ...]] = ()

    def start(self, model: WorldModel, rows: int, calibration: Any) -> _Sitting:
        """Remember what was believed and done."""
        return _Sitting(self, model, rows)


class _Sitting:
    def __init__(self, judge: Told, model: WorldModel, rows: int) -> None:
        self.judge, self.model = judge, model
        self.column = [sensor.name for sensor in model.sensors].index(judge.fresh)
        self.beliefs: deque[Belief] = deque(maxlen=DELAY + 1)  # of steps t - DELAY - 1 to t - 1
        self.actions: deque[Tensor] = deque(maxlen=DELAY + 1)  # that led to steps t - DELAY to t
        self.behind: Belief | None = None  # of step t - DELAY - 1, once the past is followed
        self.noise = np.random.default_rng(SEED)

    def rule(self, evidence: Evidence) -> Ruling:
        """Decide one step."""
        look, only = evidence.look, torch.zeros_like(evidence.healthy)
        only[:, self.column] = evidence.healthy[:, self.column]
        lost = not bool(only.any())
        trusted = evidence.healthy if lost and self.judge.then != "nothing" else only
        self.actions.append(evidence.action)
        prior = look.prior
        if lost and self.judge.then == "replayed":
            prior = self._replay(look.features, trusted)
            logprobs = prior.logprobs
        else:
            logprobs = self.model.infer(prior, look.features, trusted[:, None])[:, 0]
            logprobs = torch.where(trusted.any(1)[:, None, None], logprobs, prior.logprobs)
            self.beliefs.append(Belief(prior.deter, self._sample(logprobs)))
        no = torch.zeros_like(evidence.begin)
        return Ruling(trusted, prior, logprobs, kl_categorical(logprobs, prior.logprobs), no, no, {}, lambda *_: "told")

    def _replay(self, features: Any, masks: Tensor) -> Prior:
        """Ground the belief of DELAY steps ago by what is shown now, then repeat what was done since."""
        first = torch.zeros(len(masks), dtype=torch.bool)
        past = self.model.predict(self.behind or self.beliefs[0], self.actions[0], first)
        logprobs = self.model.infer(past, features, masks[:, None])[:, 0]
        self.behind = belief = Belief(past.deter, self._sample(logprobs))
        for action in list(self.actions)[1:]:
            prior = self.model.predict(belief, action, first)
            belief = Belief(prior.deter, self._sample(prior.logprobs))
        return prior

    def _sample(self, logprobs: Tensor) -> Tensor:
        noise = self.noise.random(tuple(logprobs.shape[:2]), dtype=np.float32)
        return one_hot_sample(logprobs, torch.from_numpy(noise))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="FourLane")
    parser.add_argument("--fresh", nargs="+", default=["birdeye_wpt", "lidar"])
    parser.add_argument("--onset", type=int, default=60)
    parser.add_argument("--episodes", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    task = find_task(options.task)
    agent = wiser.load(f"{task.agents}/dropout")
    names = [sensor.name for sensor in agent.sensors]
    print("sensors:", *names)
    for fresh in options.fresh:
        late = Scenario(faults=("lag",), sensors=tuple(n for n in names if n != fresh), seed=SEED)
        lost = Scenario(faults=("missing",), sensors=(fresh,), onset=options.onset, seed=SEED)
        print(
            f"\n{task.name}, {fresh} is lost at step {options.onset}, all others are {DELAY} steps late from the start"
        )
        forms: dict[str, str | Judge] = {then: Told(fresh, then) for then in ("nothing", "late", "replayed")}
        for form, judge in (forms | {"witnesses, not told": "witnesses"}).items():
            trial = Trial(task.env, options.episodes, SEED, Both(late, lost))
            driven = run_episodes(agent, Treatment(judge), trial)
            scores = np.array([episode.score for episode in driven])
            print(f"{form:26s} {scores.mean():6.0f} +- {scores.std() / options.episodes**0.5:3.0f}", flush=True)


if __name__ == "__main__":
    main()
