"""The diagnosis of each sensor, apart from what is done about it."""

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.guard import Calibrated, Calibration, Chain, Greedy, Guard, Health, Level
from wiser.guard.judges.candidates import least_surprising
from wiser.guard.judges.judge import Diagnosis

SENSORS = (tiny.image("camera"), tiny.vector("speed"))
OK, WARN, ERROR, STALE = Level


class Says:
    """Trusts everything, and says this of it."""

    needs = ()

    def __init__(self, *levels: int, delay: int = 0) -> None:
        self.levels, self.delay = torch.tensor([levels]), torch.tensor([[delay, 0]])

    def start(self, *_):
        return self

    def rule(self, evidence):
        ruling = least_surprising(evidence.look, evidence.healthy[:, None], evidence.healthy.any(1, keepdim=True), "")
        return ruling._replace(why=lambda row, column: "odd", diagnosis=Diagnosis(self.levels, self.delay))


def act(judge, obs=None, **settings):
    guard = Guard(tiny.model(SENSORS), judge, **settings)
    return guard.act(obs or tiny.observation(SENSORS, np.random.default_rng(0)))[1]


def test_a_judge_without_a_diagnosis_warns_of_what_it_masks() -> None:
    never = Calibration.of({name: np.zeros(9) for name in ("surprise", "isolated_surprise/speed")} |
                           {"isolated_surprise/camera": np.full(9, 1e9)})  # fmt: skip
    verdict = act(Calibrated(), calibration=never)
    assert verdict.trusted.tolist() == [True, False]
    assert verdict.level.tolist() == [OK, WARN]
    assert verdict.delay.tolist() == [0, 0]


def test_unhealthy_readings_are_errors_and_old_ones_stale() -> None:
    obs = tiny.observation(SENSORS, np.random.default_rng(0))
    assert act("none", {"camera": obs["camera"]}).level.tolist() == [OK, ERROR]
    guard = Guard(tiny.model(SENSORS), "none", health=Health(max_age=1.0, frozen_after={"camera": 1}))
    assert guard.act(obs, ages={"speed": 2.0})[1].level.tolist() == [OK, STALE]
    assert guard.act(obs)[1].level.tolist() == [STALE, OK]
    lost = {**obs, "speed": np.full_like(obs["speed"], np.nan)}
    assert guard.act(lost, ages={"speed": 2.0})[1].level.tolist() == [STALE, ERROR], "what is worse is said"


def test_a_broken_sensor_may_be_trusted_and_the_reason_says_so() -> None:
    verdict = act(Says(ERROR, OK, delay=4))
    assert verdict.trusted.all()
    assert verdict.level.tolist() == [ERROR, OK]
    assert verdict.delay.tolist() == [4, 0]
    assert verdict.reasons == {"camera": "odd, of use all the same"}


def test_a_sensor_without_a_reading_has_no_delay() -> None:
    verdict = act(Says(STALE, OK, delay=4), {"speed": np.zeros(SENSORS[1].shape, np.float32)})
    assert verdict.level.tolist() == [ERROR, OK]
    assert verdict.delay.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("first", "second", "levels"),
    [(Says(OK, ERROR), Says(WARN, OK), [WARN, ERROR]), (Says(STALE, OK), Greedy(), [STALE, OK]),
     (Greedy(), Says(STALE, OK), [STALE, OK])],
)  # fmt: skip
def test_a_chain_says_what_is_worse(first, second, levels) -> None:
    assert act(Chain(first, second)).level.tolist() == levels
