"""`wiser eval`: a line for each treatment, by the name of what it is, and what was seen in a recording."""

from pathlib import Path

import pytest

import wiser
from tests import fake_world, tiny
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


def test_a_novelty_of_the_environment_is_called_by_its_name(tmp_path) -> None:
    """Dusk falls in the fake world at step 1: half of the light is gone, and the page says so."""
    wiser.save(tiny.model(*fake_world.described(), tower="patch"), tmp_path / "agent")
    file = tmp_path / "dusk.npz"
    how = {"treatments": ("none",), "episodes": 2, "seed": 6, "record": file}
    assert evaluate(str(tmp_path / "agent"), fake_world.STAGGERED, fault="dusk", intensity=0.5, onset=1, **how) == 0
    recording = Recording.load(file)
    assert recording.about.title == f"{tmp_path / 'agent'}: dusk"
    (lane,), glow = recording.lanes, [sensor.name for sensor in recording.sensors].index("glow")
    assert lane.intensity[:, glow].tolist() == [0.0, *[0.5] * (len(lane) - 1)]
    assert lane.fault[:, glow].tolist() == ["", *["dusk"] * (len(lane) - 1)]
    assert len(lane) > 1


@pytest.mark.parametrize(
    ("asked", "error"),
    [({"fault": "dusk", "broken": 1}, "leave out --broken"), ({"fault": "fog"}, "unknown fault 'fog'"),
     ({"fault": "dusk", "scenario": Path("some.yaml")}, "leave out --fault")],
)  # fmt: skip
def test_what_cannot_be_said_of_a_novelty(asked, error, capsys) -> None:
    assert evaluate("agent", fake_world.STAGGERED, **asked) != 0
    assert error in capsys.readouterr().err


@pytest.mark.parametrize("asked", [("none", "auto"), ("none", "witnesses", "auto")])
def test_auto_goes_by_the_name_of_what_it_is(asked, monkeypatch) -> None:
    shown = []
    monkeypatch.setattr("wiser.evaluate.compare.compare", lambda model, name, treatments, *_: shown.append(treatments))
    assert evaluate("stop-sign/dropout", ENV, asked) == 0
    assert shown == [{name: find_treatment(name) for name in ("none", "witnesses")}]
