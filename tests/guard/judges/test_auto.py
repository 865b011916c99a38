"""`auto`, the default: the best judge there is a calibration for."""

from dataclasses import replace

import numpy as np
import pytest

import wiser
from tests import tiny
from wiser.evaluate.treatments import TREATMENTS, Treatment, resolve_name
from wiser.guard import (
    JUDGES,
    Calibrated,
    Calibration,
    CalibrationError,
    Greedy,
    Guard,
    TrustAll,
    judges,
    preferred_judge,
)
from wiser.guard.scores import SCORES

SENSORS = tiny.images(3)
USUAL = Calibration.of({name: np.ones(9) for name in ("surprise", *SCORES["surprise"].singles(SENSORS))})


@pytest.fixture
def folder(tmp_path):
    """An agent without a calibration."""
    wiser.save(tiny.model(SENSORS), tmp_path)
    return tmp_path


def test_it_is_the_best_that_there_is_a_calibration_for_and_greedy_without_any(folder) -> None:
    model = wiser.load(folder)
    assert isinstance(Guard(model).judge, Greedy)
    whole = replace(USUAL, scores=USUAL.scores | {"own_surprise": USUAL.scores["surprise"]})
    assert preferred_judge(model, whole) == "witnesses"
    assert isinstance(Guard(model, calibration=USUAL).judge, Calibrated)
    USUAL.save(folder)
    assert isinstance(Guard(model).judge, Calibrated)
    assert isinstance(Guard(model, "greedy").judge, Greedy)


def test_a_calibration_without_what_is_needed_is_none(folder) -> None:
    only = Calibration.of({"reconstruction": np.ones(9)})
    assert isinstance(Guard(wiser.load(folder), calibration=only).judge, Greedy)


def test_a_damaged_calibration_is_not_passed_over(folder) -> None:
    (folder / "calibration.json").write_text("damaged")
    with pytest.raises(CalibrationError):
        Guard(wiser.load(folder))


def test_the_treatment_has_the_digest_of_what_it_comes_to(folder) -> None:
    model = wiser.load(folder)
    assert TREATMENTS["auto"].digest(model) == TREATMENTS["greedy"].digest(model)
    assert resolve_name("auto", model) == "greedy"
    USUAL.save(folder)
    assert TREATMENTS["auto"].digest(model) == TREATMENTS["calibrated"].digest(model)
    assert TREATMENTS["auto"].digest(model) != TREATMENTS["greedy"].digest(model)
    assert (resolve_name("auto", model), resolve_name("reject", model)) == ("calibrated", "reject")
    limited = Treatment("auto", blind_limit=3)
    assert limited.digest(model) == Treatment("calibrated", blind_limit=3).digest(model)


def test_the_order_is_one_line(monkeypatch) -> None:
    monkeypatch.setitem(JUDGES, "mine", Calibrated(level=0.99))
    monkeypatch.setattr(judges, "PREFERRED", ("mine", *judges.PREFERRED))
    model = tiny.model(SENSORS)
    assert preferred_judge(model, USUAL) == "mine"
    assert preferred_judge(model, None) == "greedy"


def test_a_single_sensor_is_believed_or_not() -> None:
    model = tiny.model(tiny.images(1))
    assert isinstance(Guard(model).judge, TrustAll)
    usual = Calibration.of({name: np.ones(9) for name in ("surprise", "reconstruction")})
    assert Guard(model, calibration=usual).judge == JUDGES["predict"]


def test_shipped_agents_trust_their_clean_sensors_at_first_sight() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("wiser/StopSign-v0")
    guard = Guard(wiser.load("stop-sign/dropout"))
    observation, _ = env.reset(seed=0)
    assert str(guard.act(observation)[1]) == "GROUNDED, 6 of 6 sensors trusted"
