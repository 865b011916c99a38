"""Your own judge of sensors: settings, and a sitting with a memory for every row.

This one is resentful: a sensor that was once far more surprising than the others is not trusted for a while.
Run: python examples/own_judge.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

import wiser
from wiser.evaluate import Treatment
from wiser.faults import Scenario
from wiser.guard import Evidence, Ruling
from wiser.guard.judges.candidates import least_surprising


@dataclass(frozen=True)
class Resentful:
    """Distrust a sensor for `steps` steps after its surprise was `times` the median of all sensors."""

    times: float = 4.0
    steps: int = 20
    needs: ClassVar[tuple[str, ...]] = ()
    """Scores that must have been calibrated: none."""

    def start(self, model: Any, rows: int, calibration: Any) -> Grudge:
        """Every guard gets a memory of its own."""
        return Grudge(self, torch.zeros(rows, len(model.sensors), dtype=torch.long))


@dataclass
class Grudge:
    """How many steps each sensor of each row is still in disgrace."""

    settings: Resentful
    left: Tensor  # (B, N)

    def rule(self, evidence: Evidence) -> Ruling:
        """Decide one step. A row that begins an episode is forgiven everything."""
        look, healthy = evidence.look, evidence.healthy
        nats = torch.where(healthy, look.infer(look.alone)[1], torch.inf)  # (B, N) surprise of each sensor alone
        shocking = nats > self.settings.times * nats.median(1, keepdim=True).values.clamp(min=0.1)
        self.left = torch.where(evidence.begin[:, None], 0, (self.left - 1).clamp(min=0))
        self.left = torch.where(shocking, self.settings.steps, self.left)
        wanted = healthy & (self.left == 0)  # (B, N)
        wanted = torch.where(wanted.any(1, keepdim=True), wanted, healthy)  # rather all of them than none
        ruling = least_surprising(look, wanted[:, None], healthy.any(1, keepdim=True), "in disgrace")
        return ruling._replace(
            scores={"isolated_surprise": nats},
            why=lambda row, column: f"in disgrace for {int(self.left[row, column])} steps more",
        )


def main(episodes: int = 16) -> wiser.evaluate.benchmark.Comparison:
    """Compare it with the built-in ones."""
    treatments = {"none": Treatment(), "greedy": Treatment("greedy"), "resentful": Treatment(Resentful())}
    glare = Scenario(faults=("glare",), sensors=3, onset=30)
    return wiser.benchmark("stop-sign/dropout", "wiser/StopSign-v0", [glare], treatments, episodes=episodes)


if __name__ == "__main__":
    print(main())
