"""Calibration along the loop: so many frames, so many beginnings, each with its own seed."""

import numpy as np
import pytest

from tests import fake_world, tiny
from wiser.guard import SCORES, Calibrator, Score
from wiser.rollout import calibrate


@pytest.fixture
def places(monkeypatch) -> list[tuple[bool, list[list[float]]]]:
    """What a score saw: (step of the episode, seed) of every row, frame by frame."""
    seen: list[list[list[float]]] = []

    def measure(look):
        seen.append(look.obs["where"][:, :3].tolist())
        return look.obs["where"][:, 2]

    monkeypatch.setitem(SCORES, "place", Score(measure))
    return seen


def test_frames_and_beginnings_are_as_asked(places) -> None:
    """Worlds whose episodes have 3, 2, ... steps: the loop looks at 3 + 1 and 2 + 1 frames of these."""
    model = tiny.model(*fake_world.described(), tower="patch")
    found = calibrate(model, fake_world.VECTOR, rows=2, steps=6, beginnings=5, seed=40, scores=("place",))
    assert len(places) == 2 + 7, "three batches of beginnings, the last of them driven on"
    assert [frame[0][0] for frame in places] == [40, 42, *[44] * 7]
    assert [frame[0][2] for frame in places[2:]] == [0, 1, 2, 3, 0, 1, 2]
    assert found.stats("place", begin=True).count == 2 * 4
    assert found.stats("place").count == 2 * 5
    assert found.stats("place").mean == pytest.approx(np.mean([1, 2, 3, 1, 2]))
    assert found.about == {"seed": 40, "env": fake_world.VECTOR, "steps": 6}


def test_nothing_taken_is_nothing_calibrated() -> None:
    calibrator = Calibrator(tiny.model(*fake_world.described(), tower="patch"), 1)
    with pytest.raises(ValueError, match="act with"):
        calibrator.take()
    with pytest.raises(ValueError, match="at least one step"):
        calibrator.calibration()
