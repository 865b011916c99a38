"""Eight environments in one batch get the verdicts of eight alone."""

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.guard import Calibrated, Calibration, Chain, Exhaustive, Greedy, Guard, Health, RandomMask, Rejection

SETTINGS = {
    "greedy": Greedy(),
    "greedy depth 1": Greedy(depth=1, include_full=False),
    "exhaustive": Exhaustive(),
    "calibrated": Calibrated(level=0.5),
    "random": RandomMask(),
    "random once": RandomMask(redraw=False),
    "reject": Rejection(tau=0.29),
    "reject reference": Rejection(tau=0.29, transitions="reference"),
    "reject surprise": Chain(Greedy(), Rejection(score="surprise", tau=1.5, denoiser="interpolate")),
}


@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_batch_of_eight_equals_eight_alone(name: str, sample: bool) -> None:
    judge = SETTINGS[name]
    model = tiny.model((*tiny.images(3), tiny.vector("speed")))
    health = Health(frozen_after=2)
    usual = Calibration.of({f"isolated_surprise/{s.name}": np.array([2.9, 3.3]) for s in model.sensors})
    drawn = {"sample_latents": sample, "sample_actions": sample, "calibration": usual}
    together = Guard(model, judge, rows=8, **drawn, seed=50, health=health)
    alone = [Guard(model, judge, **drawn, seed=50 + i, health=health) for i in range(8)]
    rng = np.random.default_rng(0)
    modes = set()
    for step in range(12):
        obs = tiny.batch(model.sensors, 8, rng)
        obs["camera1"][step % 8] = 255
        obs["speed"][(step + 3) % 8] = np.nan
        first = rng.random(8) < 0.2
        actions, verdict = together.act(obs, first)
        for i, guard in enumerate(alone):
            action, single = guard.act({key: value[i] for key, value in obs.items()}, bool(first[i]))
            row = verdict.row(i)
            assert row.mode == single.mode
            assert np.array_equal(row.trusted, single.trusted)
            assert row.reasons == single.reasons
            assert row.surprise == pytest.approx(single.surprise, abs=1e-4)
            assert (row.blind_steps, row.reset) == (single.blind_steps, single.reset)
            assert actions[i] == action
            assert torch.equal(together.belief.stoch[i], guard.belief.stoch[0])
            modes.add(int(row.mode))
    if name.startswith("reject"):
        assert len(modes) > 1, "the setting must exercise more than one mode"
