"""Mistakes of a caller are said aloud: settings that make no sense, observations that were meant for another guard."""

import warnings

import numpy as np
import pytest

from tests import tiny
from wiser.guard import Guard, Mode

SENSORS = (tiny.image("camera"), tiny.vector("speed"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rows": 0}, "at least 1 row, got rows=0"),
        ({"rows": -2}, "at least 1 row, got rows=-2"),
        ({"blind_limit": -1}, "blind_limit must be at least 0, got -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        Guard(tiny.model(SENSORS), **settings)


def test_a_batch_given_to_a_single_guard_is_told_once() -> None:
    guard, obs = Guard(tiny.model(SENSORS)), tiny.batch(SENSORS, 1, np.random.default_rng(0))
    expected = (
        r"camera has shape \(1, 16, 16, 3\) instead of \(16, 16, 3\). This guard is for one environment, unbatched"
    )
    with pytest.warns(UserWarning, match=expected) as told:
        _, verdict = guard.act(obs)
    assert verdict.mode == Mode.PREDICTIVE
    assert told[0].filename == __file__, "it points at the caller"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guard.reset()
        guard.act(obs)


def test_one_reading_given_to_a_guard_of_many_is_told() -> None:
    guard, obs = Guard(tiny.model(SENSORS), rows=4), tiny.observation(SENSORS, np.random.default_rng(0))
    with pytest.warns(UserWarning, match=r"shape \(16, 16, 3\) instead of \(4, 16, 16, 3\). .* batches of 4 rows"):
        guard.act(obs)


@pytest.mark.parametrize("spoil", ["one shape", "missing", "not finite"])
def test_broken_sensors_are_no_mistake_of_the_caller(spoil) -> None:
    obs = tiny.observation(SENSORS, np.random.default_rng(0))
    if spoil == "one shape":
        obs["camera"] = obs["camera"][:4]
    elif spoil == "missing":
        obs = {"camera": obs["camera"][:4]}
    else:
        obs |= {"camera": obs["camera"][:4], "speed": np.full(3, np.nan, np.float32)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Guard(tiny.model(SENSORS)).act(obs)
