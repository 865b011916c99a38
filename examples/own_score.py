"""Your own score M and denoiser D for rejection: functions of a look. Commands and plans find them by name.

The score calls a picture without contrast odd, as under glare; the denoiser gives it its contrast back.
Run: python examples/own_score.py
or, in this folder: wiser eval stop-sign/single StopSign --fault glare --treatments reject:score=own_score:dull
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

import wiser
from wiser.evaluate import Treatment
from wiser.faults import Scenario
from wiser.guard import Look, Rejection, Score
from wiser.worldmodel.protocol import unit_image


def dullness(look: Look) -> Tensor:
    """M: how little contrast there is, one number per row, (B,); higher is worse."""
    return 1.0 - unit_image(look.obs["birdeye_wpt"]).flatten(1).std(1)


def stretched(look: Look) -> Mapping[str, Tensor]:
    """D: the darkest pixel of each row black, the brightest white; images as floats in [0, 1]."""
    picture = unit_image(look.obs["birdeye_wpt"])  # (B, H, W, C)
    low, high = picture.amin((1, 2, 3), keepdim=True), picture.amax((1, 2, 3), keepdim=True)
    return {**look.obs, "birdeye_wpt": (picture - low) / (high - low).clamp(min=1e-3)}


dull = Score(dullness, tau=0.95)  # for commands: without a threshold of its own it would have to be calibrated


def main(episodes: int = 16) -> wiser.evaluate.benchmark.Comparison:
    """A single camera in glare at three steps of four: unguarded, as in the paper, and with these two."""
    own = Treatment(Rejection(dullness, stretched, transitions="keep", tau=dull.tau))
    glare = Scenario(faults=("glare",), sensors=1, proportion=0.75, intensity=0.8)
    treatments = {"none": Treatment(), "reject": Treatment("reject"), "own": own}
    return wiser.benchmark("stop-sign/single", "wiser/StopSign-v0", [glare], treatments, episodes=episodes)


if __name__ == "__main__":
    print(main())
