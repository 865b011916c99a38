"""Modes: how long a row has been blind, when the fallback takes over, and what the layers tell each other."""

import numpy as np
import torch

from tests import tiny
from wiser.guard import Chain, Guard, Mode, Rejection
from wiser.guard.judges.candidates import least_surprising
from wiser.guard.look import Look

SENSORS = (tiny.image("camera"), tiny.vector("speed"))


def test_blind_steps_count_from_the_last_trusted_sensor_or_the_beginning() -> None:
    guard, obs = Guard(tiny.model(SENSORS), rows=2), tiny.batch(SENSORS, 2, np.random.default_rng(0))
    counted = [guard.act(obs)[1].blind_steps.tolist()]
    for _ in range(3):
        counted.append(guard.act({})[1].blind_steps.tolist())
    counted.append(guard.act({}, [False, True])[1].blind_steps.tolist())
    counted.append(guard.act(obs)[1].blind_steps.tolist())
    assert counted == [[0, 0], [1, 1], [2, 2], [3, 3], [4, 1], [0, 0]]


def test_the_fallback_takes_over_after_the_limit_and_not_at_it() -> None:
    guard, obs = Guard(tiny.model(SENSORS), blind_limit=2), tiny.observation(SENSORS, np.random.default_rng(0))
    modes = [guard.act(reading)[1].mode for reading in (obs, {}, {}, {}, {}, obs)]
    expected = ["GROUNDED", "PREDICTIVE", "PREDICTIVE", "FALLBACK", "FALLBACK", "GROUNDED"]
    assert [mode.name for mode in modes] == expected


def test_predictions_follow_the_action_of_the_fallback() -> None:
    model = tiny.model(SENSORS)
    guard = Guard(model, rows=2, blind_limit=0, fallback=lambda verdict: 3)
    action, verdict = guard.act({})
    assert action.tolist() == [3, 3]
    assert verdict.mode.tolist() == [Mode.FALLBACK] * 2
    expected = model.predict(guard.belief, torch.eye(5)[[3, 3]], torch.zeros(2, dtype=torch.bool))
    other = model.predict(guard.belief, model.act(guard.belief), torch.zeros(2, dtype=torch.bool))
    assert not torch.allclose(expected.deter, other.deter)
    guard.act({})
    torch.testing.assert_close(guard.belief.deter, expected.deter)


def test_rejection_judges_the_sensors_that_were_selected() -> None:
    judged: list[torch.Tensor] = []

    def score(look: Look) -> torch.Tensor:
        judged.append(look.mask)
        return torch.zeros(len(look.mask))

    class OnlySpeed:
        needs = ()

        def start(self, *_):
            return self

        def rule(self, evidence):
            mask = torch.tensor([[False, True]]).expand_as(evidence.healthy)
            return least_surprising(evidence.look, mask[:, None], mask.any(1, keepdim=True), "not the speed")

    guard = Guard(tiny.model(SENSORS), Chain(OnlySpeed(), Rejection(score=score, tau=1.0)), rows=3)
    _, verdict = guard.act(tiny.batch(SENSORS, 3, np.random.default_rng(0)))
    assert judged[0].tolist() == [[False, True]] * 3
    assert verdict.trusted.tolist() == [[False, True]] * 3
