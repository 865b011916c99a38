"""Is it better to let a suspected sensor speak softly than to mask it? The witnesses with hard and with tempered masks.

A tempered posterior is the geometric mean of what the sensors that nothing speaks against say by themselves and of what
they say together with the suspected ones that show the present; its weight is fixed, or what both have in common.
Run: python experiments/tempered_masks.py [--task FourLane] [--faults jitter occlusion]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

import wiser
from wiser import seeds
from wiser.envs.domain import find_task
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.treatments import Treatment
from wiser.faults import Scenario
from wiser.guard import Calibration, Witnesses
from wiser.guard.judges.witnesses.court import Court
from wiser.rollout import Trial
from wiser.worldmodel.latents import kl_categorical
from wiser.worldmodel.protocol import WorldModel

SEED = seeds.DESIGN[70_000]


@dataclass(frozen=True)
class Tempered(Witnesses):
    """Witnesses whose suspects speak softly."""

    weight: float | None = None
    """Of suspects; None: what they have in common with the others, as a share of what is usual."""

    def start(self, model: WorldModel, rows: int, calibration: Calibration | None) -> Court:
        """Hold a softer court."""
        assert calibration is not None
        return _SoftCourt(self, model, rows, calibration)


class _SoftCourt(Court):
    judge: Tempered

    def _useful(self, suspect: Tensor, stale: Tensor, clear: Tensor, compared: Any) -> Tensor:
        others = clear[:, None] & ~self.streams.alone  # (B, N, N)
        common = (compared.agreement * others).sum(2) / (self.same * others).sum(2).clamp(min=1e-6)
        self.soft = suspect & ~stale  # (B, N)
        share = (common * self.soft).sum(1) / self.soft.sum(1).clamp(min=1)  # (B,)
        self.weight = share.clamp(0, 1) if self.judge.weight is None else torch.full_like(share, self.judge.weight)
        return torch.zeros_like(suspect)

    def _believe(self, look: Any, told: Any, trusted: Tensor, *others: Tensor) -> tuple[Any, Tensor, Tensor, Tensor]:
        prior, logprobs, _, rescued = super()._believe(look, told, trusted, *others)
        soft = self.soft.any(1) & trusted.any(1)  # (B,)
        louder = self.model.infer(prior, look.features, (trusted | self.soft)[:, None])[:, 0]
        weight = torch.where(soft, self.weight, 0.0)[:, None, None]
        mixed = ((1 - weight) * logprobs + weight * louder).log_softmax(-1)
        logprobs = torch.where(soft[:, None, None], mixed, logprobs)
        return prior, logprobs, kl_categorical(logprobs, prior.logprobs), rescued


FORMS = {
    "masked": Witnesses(useful=None),
    "masked, used after parole": Witnesses(),
    "tempered, half": Tempered(weight=0.5),
    "tempered by agreement": Tempered(),
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="FourLane")
    parser.add_argument("--faults", nargs="+", default=["jitter", "occlusion", "salt", "glare", "lag"])
    parser.add_argument("--onsets", nargs="+", type=int, default=[0, 60])
    parser.add_argument("--episodes", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    task = find_task(options.task)
    agent = wiser.load(f"{task.agents}/dropout")
    for onset in options.onsets:
        for fault in options.faults:
            broken = Scenario(faults=(fault,), sensors=5, onset=onset, seed=SEED)
            print(f"\n{task.name}, {fault} on 5 from step {onset} on, {options.episodes} episodes")
            for form, judge in FORMS.items():
                driven = run_episodes(agent, Treatment(judge), Trial(task.env, options.episodes, SEED, broken))
                scores = np.array([episode.score for episode in driven])
                print(f"{form:26s} {scores.mean():6.0f} +- {scores.std() / options.episodes**0.5:3.0f}", flush=True)


if __name__ == "__main__":
    main()
