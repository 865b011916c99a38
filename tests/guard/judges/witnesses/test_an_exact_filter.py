"""Witnesses of an exact Bayes filter, a robot on a ring that three beacons tell where it is: who lies, who is late."""

import numpy as np
import pytest

from examples.own_model import PLACES, RingFilter
from wiser.guard import Calibrator, Guard, Level, Verdict, Witnesses

STEPS = 150


class OneBeacon(RingFilter):
    sensors = RingFilter.sensors[1:2]


class World:
    """Rows of robots that wander, in a batch; each beacon may be replaced by what `harm(place so far)` says."""

    def __init__(self, rows: int, seed: int) -> None:
        self.rng, self.rows = np.random.default_rng(seed), rows
        self.places = [self.rng.integers(PLACES, size=rows)]

    def step(self, actions: np.ndarray) -> None:
        """Moves succeed mostly, as the filter expects."""
        moves = np.where(self.rng.random(self.rows) < 0.8, actions - 1, self.rng.integers(-1, 2, self.rows))
        self.places.append((self.places[-1] + moves) % PLACES)

    def observe(self, harm) -> dict[str, np.ndarray]:
        true = np.where(
            self.rng.random((3, self.rows)) < 0.95, self.places[-1], self.rng.integers(PLACES, size=(3, self.rows))
        )
        said = dict(zip(("north", "east", "west"), true, strict=True))
        return {
            name: np.eye(PLACES, dtype=np.float32)[place]
            for name, place in {**said, **harm(self.places, self.rng)}.items()
        }


def explore(rng: np.random.Generator, rows: int) -> np.ndarray:
    return rng.integers(0, 3, rows)


@pytest.fixture(scope="module")
def calibrations():
    found = {}
    for kind in (RingFilter, OneBeacon):
        calibrator, rng = Calibrator(kind(), 32, scores=("surprise",), judges=(Witnesses(),)), np.random.default_rng(5)
        for episode in range(8):
            world = World(32, episode)
            for step in range(STEPS):
                calibrator.guard.act(world.observe(lambda places, rng: {}), np.full(32, step == 0))
                calibrator.take()
                actions = explore(rng, 32)
                calibrator.guard.executed(actions)
                world.step(actions)
        found[kind] = calibrator.calibration()
    return found


def trust(model, calibration, harm, onset: int = 0, **settings) -> np.ndarray:
    """(T, B, N): whom the witnesses trust while the robot explores."""
    return np.array([verdict.trusted for verdict in judge(model, calibration, harm, onset, **settings)])


def judge(model, calibration, harm, onset: int = 0, **settings) -> list[Verdict]:
    guard, world, rng = (
        Guard(model, Witnesses(**settings), rows=32, calibration=calibration),
        World(32, 99),
        np.random.default_rng(7),
    )
    found = []
    for step in range(STEPS):
        obs = world.observe(harm if step >= onset else lambda places, rng: {})
        found.append(guard.act(obs, np.full(32, step == 0))[1])
        actions = explore(rng, 32)
        guard.executed(actions)
        world.step(actions)
    return found


def test_sound_beacons_are_trusted(calibrations) -> None:
    trusted = trust(RingFilter(), calibrations[RingFilter], lambda places, rng: {})
    assert trusted.mean() > 0.965, "20 in 1,000 are suspected of nothing"


def test_a_beacon_that_talks_nonsense_is_masked(calibrations) -> None:
    def nonsense(places, rng):
        return {"north": rng.integers(PLACES, size=len(places[-1]))}

    trusted = trust(RingFilter(), calibrations[RingFilter], nonsense, onset=20, useful=None)[40:]
    assert trusted[..., 0].mean() < 0.3
    assert trusted[..., 1:].mean() > 0.95


@pytest.mark.parametrize("lasting", [True, False])
@pytest.mark.parametrize("delay", [6, 12])
def test_a_late_majority_is_convicted_by_one_fresh_beacon(calibrations, delay: int, lasting: bool) -> None:
    """Also if nothing but the comparison of streams can tell: one step of own surprise is never rare here."""

    def late(places, rng):
        old = places[max(0, len(places) - 1 - delay)]
        return {"north": old, "west": old}

    trusted = trust(RingFilter(), calibrations[RingFilter], late, lasting=lasting)[60:]
    assert trusted[..., 1].mean() > 0.9
    assert trusted[..., [0, 2]].mean() < 0.3


def test_the_delay_of_late_beacons_is_told(calibrations) -> None:
    def late(places, rng):
        old = places[max(0, len(places) - 1 - 9)]
        return {"north": old, "west": old}

    last = judge(RingFilter(), calibrations[RingFilter], late)[-30:]
    level, delay = (np.array([getattr(verdict, name) for verdict in last]) for name in ("level", "delay"))  # (T, B, N)
    assert (level[..., [0, 2]] == Level.STALE).mean() > 0.7
    assert (level[..., 1] == Level.OK).mean() > 0.9
    assert np.median(delay[level == Level.STALE]) == 9
    reasons = [reason for verdict in last for row in verdict.reasons for reason in row.values()]
    assert "shows what others showed 9 steps ago" in reasons


def test_nonsense_is_an_error_after_some_time(calibrations) -> None:
    def nonsense(places, rng):
        return {"north": rng.integers(PLACES, size=len(places[-1]))}

    level = np.array([one.level for one in judge(RingFilter(), calibrations[RingFilter], nonsense, useful=None)])
    for step, row, sensor in np.argwhere(level == Level.ERROR):
        assert step >= 4
        assert (level[step - 4 : step, row, sensor] != Level.OK).all(), "not for a few frames"
    level = level[-60:]
    assert (level[..., 0] == Level.ERROR).mean() > 0.5
    assert (level[..., 1:] == Level.OK).mean() > 0.9


def test_a_frozen_majority_is_convicted_by_one_that_moves(calibrations) -> None:
    def frozen(places, rng):
        return {"north": places[0], "west": places[0]}

    trusted = trust(RingFilter(), calibrations[RingFilter], frozen)[60:]
    assert trusted[..., 1].mean() > 0.9
    assert trusted[..., [0, 2]].mean() < 0.3


def test_one_beacon_alone_is_believed_or_not(calibrations) -> None:
    def nonsense(places, rng):
        return {"east": rng.integers(PLACES, size=len(places[-1]))}

    trusted = trust(OneBeacon(), calibrations[OneBeacon], nonsense, onset=50)
    assert trusted[:50].mean() > 0.95
    assert trusted[60:].mean() < 0.5


def test_trust_returns_to_a_beacon_that_is_sound_again(calibrations) -> None:
    def for_a_while(places, rng):
        return {"north": rng.integers(PLACES, size=len(places[-1]))} if 20 <= len(places) < 50 else {}

    trusted = trust(RingFilter(), calibrations[RingFilter], for_a_while, useful=None)
    assert trusted[40:50, :, 0].mean() < 0.3
    assert trusted[-30:, :, 0].mean() > 0.9
