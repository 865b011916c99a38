"""A scenario survives YAML, and whatever is wrong with one is said in one clear sentence."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiser.faults import FAULTS, PRESETS, Scenario

VALID = {"faults": ["glare"], "sensors": ["front"]}


@st.composite
def scenarios(draw):
    onset = draw(st.integers(0, 1000))
    names = st.lists(st.text(min_size=1), min_size=1, unique=True).map(tuple)
    return Scenario(
        faults=tuple(draw(st.lists(st.sampled_from(list(FAULTS)), min_size=1, unique=True))),
        sensors=draw(names | st.integers(1, 9)),
        intensity=draw(st.floats(0, 10)),
        onset=onset,
        proportion=draw(st.floats(0, 1)),
        schedule=draw(st.sampled_from(["bernoulli", "contiguous"])),
        horizon=onset + draw(st.integers(1, 1000)),
        seed=draw(st.integers(0, 2**64)),
        preset=draw(st.sampled_from(list(PRESETS))),
    )


@given(scenarios())
def test_round_trip(scenario):
    assert Scenario.from_yaml(scenario.to_yaml()) == scenario
    assert Scenario.from_dict(scenario.to_dict()) == scenario
    assert hash(scenario) == hash(Scenario.from_yaml(scenario.to_yaml()))


def test_what_people_write_by_hand():
    text = "faults: [glare, gaussian]\nsensors: 2\nintensity: 0.625\nonset: 10\nproportion: 0.5\npreset: paper\n"
    assert Scenario.from_yaml(text) == Scenario(
        faults=("glare", "gaussian"), sensors=2, intensity=0.625, onset=10, proportion=0.5, preset="paper"
    )
    assert Scenario.from_yaml("faults: lag\nsensors: front\n") == Scenario(faults=("lag",), sensors=("front",))


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Scenario.from_dict(VALID).intensity = 2.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"intensty": 1.0}, "unknown key intensty in scenario; valid are faults, sensors, intensity"),
        ({"faults": ["fog"]}, "unknown fault 'fog'; there are gaussian"),
        ({"faults": []}, "at least one fault"),
        ({"faults": ["lag", "lag"]}, "faults must be distinct"),
        ({"sensors": []}, "sensors must be distinct names"),
        ({"sensors": ["front", "front"]}, "sensors must be distinct names"),
        ({"sensors": 0}, "at least 1, got 0"),
        ({"sensors": True}, "at least 1, got True"),
        ({"intensity": -0.1}, "intensity must be a number >= 0, got -0.1"),
        ({"intensity": float("nan")}, "intensity must be a number"),
        ({"intensity": "high"}, "intensity must be a number"),
        ({"onset": -1}, "onset must be"),
        ({"onset": 1.5}, "onset must be"),
        ({"proportion": 1.01}, "proportion must be a number from 0 to 1, got 1.01"),
        ({"schedule": "poisson"}, "schedule must be one of bernoulli, contiguous"),
        ({"schedule": "contiguous", "proportion": 0.5}, "needs a horizon"),
        ({"horizon": 5, "onset": 5}, "horizon must lie after the onset"),
        ({"seed": -1}, "seed must be"),
        ({"preset": "mild"}, "preset must be one of default, paper"),
    ],
)
def test_mistakes_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        Scenario.from_dict({**VALID, **change})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- glare", "a scenario is a mapping"),
        ("", "a scenario is a mapping"),
        ("faults: [glare", "not valid YAML"),
        ("faults: [glare]", "must say which sensors"),
        ("!!python/object/apply:os.getcwd []", "not valid YAML"),
    ],
)
def test_files_that_are_no_scenario(text, message):
    with pytest.raises(ValueError, match=message):
        Scenario.from_yaml(text)
