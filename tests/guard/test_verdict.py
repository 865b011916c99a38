"""What a verdict says of itself: for one environment and for a batch."""

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.guard import Guard

SENSORS = (tiny.image("camera"), tiny.image("lidar"), tiny.vector("speed"))


@pytest.mark.parametrize("speak", ["numpy", "torch"])
def test_names_of_trusted_sensors(speak) -> None:
    sensors = tuple(tiny.vector(name) for name in ("left", "right", "speed"))
    rng, model = np.random.default_rng(0), tiny.model(sensors)
    one, many = tiny.observation(sensors, rng), tiny.batch(sensors, 3, rng)
    one["left"][0] = many["left"][1, 0] = np.nan
    one, many = (tiny.tensors(obs) if speak == "torch" else obs for obs in (one, many))
    assert Guard(model, "none").act(one)[1].trusted_sensors == ("right", "speed")
    verdict = Guard(model, "none", rows=3).act(many)[1]
    assert isinstance(verdict.trusted, torch.Tensor) == (speak == "torch")
    whole = ("left", "right", "speed")
    assert verdict.trusted_sensors == [whole, ("right", "speed"), whole]
    assert verdict.row(1).trusted_sensors == ("right", "speed")


def test_it_prints_as_a_line() -> None:
    guard, obs = Guard(tiny.model(SENSORS), "none"), tiny.observation(SENSORS, np.random.default_rng(0))
    assert repr(guard.act(obs)[1]) == str(guard.act(obs)[1]) == "GROUNDED, 3 of 3 sensors trusted"
    del obs["camera"], obs["lidar"]
    assert str(guard.act(obs)[1]) == "GROUNDED, 1 of 3 sensors trusted (camera, lidar: missing)"
    obs["speed"][0] = np.nan
    blind = "PREDICTIVE, 0 of 3 sensors trusted{} (camera, lidar: missing; speed: not finite)"
    assert str(guard.act(obs)[1]) == blind.format("")
    assert str(guard.act(obs)[1]) == blind.format(", 2 steps blind")


def test_a_batch_prints_as_a_line_for_each_of_the_first_rows() -> None:
    model, rng = tiny.model(SENSORS), np.random.default_rng(0)
    few, many = tiny.batch(SENSORS, 2, rng), tiny.batch(SENSORS, 11, rng)
    few["speed"][1, 0] = np.nan
    assert str(Guard(model, "none", rows=2).act(few)[1]).splitlines() == [
        "row 0: GROUNDED, 3 of 3 sensors trusted",
        "row 1: GROUNDED, 2 of 3 sensors trusted (speed: not finite)",
    ]
    lines = str(Guard(model, "none", rows=11).act(many)[1]).splitlines()
    assert len(lines) == 9
    assert lines[-1] == "... and 3 rows more"
