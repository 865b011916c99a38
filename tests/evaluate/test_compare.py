"""`wiser eval`: a line for each treatment, by the name of what it is, and what was seen in a recording."""

import pytest

import wiser
from wiser.commands.evaluate import evaluate
from wiser.evaluate.compare import compare
from wiser.evaluate.treatments import find_treatment
from wiser.faults import Scenario
from wiser.record import Recording
from wiser.rollout import Trial

ENV = "wiser/StopSign-v0"


def test_a_recording_has_the_view_and_the_true_intensity(tmp_path) -> None:
    glare = Scenario(faults=("glare",), sensors=5, onset=3, intensity=0.5, seed=3)
    named = {name: find_treatment(name) for name in ("none", "calibrated")}
    trial = Trial(ENV, 2, 900_000, glare, longest=8)
    compare(wiser.load("stop-sign/dropout"), "stop-sign/dropout", named, trial, tmp_path / "run.npz")
    recording = Recording.load(tmp_path / "run.npz")
    assert [lane.method for lane in recording.lanes] == ["none", "calibrated"]
    for lane in recording.lanes:
        assert lane.view is not None
        assert lane.view.shape[0] == len(lane) == 8
        assert (lane.view[0] != lane.view[-1]).any(), "the car moves"
        assert (lane.intensity[:3] == 0).all()
        assert ((lane.intensity[3:] == 0.5).sum(1) == 5).all()
        assert set(lane.fault[3:].ravel()) == {"glare", ""}


@pytest.mark.parametrize("asked", [("none", "auto"), ("none", "witnesses", "auto")])
def test_auto_goes_by_the_name_of_what_it_is(asked, monkeypatch) -> None:
    shown = []
    monkeypatch.setattr("wiser.evaluate.compare.compare", lambda model, name, treatments, *_: shown.append(treatments))
    assert evaluate("stop-sign/dropout", ENV, asked) == 0
    assert shown == [{name: find_treatment(name) for name in ("none", "witnesses")}]
