"""The search for what hurts most: against a score whose minimum is known, and as a command."""

import json

import numpy as np
import pytest

from wiser.cli import run
from wiser.evaluate.worst import Space, search
from wiser.faults import Scenario

SPACE = Space(("camera", "lidar", "radar"), 2, ("glare", "lag", "freeze"), 100)


def test_whatever_is_drawn_or_varied_is_allowed_and_only_one_thing_is_varied() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        scenario = SPACE.draw(rng)
        other = SPACE.vary(scenario, rng)
        for one in (scenario, other):
            assert 1 <= len(one.sensors) <= 2
            assert len(set(one.sensors)) == len(one.sensors)
            assert list(one.sensors) == [name for name in SPACE.sensors if name in one.sensors]
            assert 0 <= one.onset < 75
        old, new = scenario.to_dict(), other.to_dict()
        assert sum(old[name] != new[name] for name in old) <= 1


def test_everything_can_be_reached_by_variation() -> None:
    rng, scenario, seen = np.random.default_rng(0), SPACE.draw(np.random.default_rng(1)), set()
    for _ in range(8000):
        scenario = SPACE.vary(scenario, rng)
        seen.add((scenario.faults[0], scenario.sensors, scenario.intensity, scenario.proportion))
    assert len(seen) == 3 * 6 * 4 * 4


def test_the_search_goes_downhill_to_the_worst() -> None:
    def score(scenario: Scenario) -> float:
        """Lowest, 0, with lag at full intensity on camera and radar from the first step to the last."""
        wrong = (scenario.faults != ("lag",)) + 3 * len({"camera", "radar"} ^ set(scenario.sensors))
        return wrong + 4 * (1 - scenario.intensity) + 4 * (1 - scenario.proportion) + scenario.onset / 10

    rng = np.random.default_rng(2)
    tried = list(search(score, SPACE, 400, rng))
    assert len(tried) == 400
    assert min(one.score for one in tried) == 0
    anywhere = [score(SPACE.draw(rng)) for _ in range(200)]
    assert np.mean([one.score for one in tried[200:]]) < np.mean(anywhere), "the second half is next to the worst"
    assert [one.score for one in tried] == [score(one.scenario) for one in tried]


def test_the_worst_is_confirmed_written_down_and_replayed(tmp_path, capsys) -> None:
    out = tmp_path / "found"
    few = ["--tries", "4", "--episodes", "1", "--confirm", "2", "--threads", "1", "--out", str(out)]
    assert run(["worst", "stop-sign/dropout", "StopSign", "--treatments", "none", "greedy", *few]) == 0
    report = json.loads((out / "worst.json").read_text())
    assert report["agent"] == "stop-sign/dropout"
    assert set(report["worst"]) == {"none", "greedy"}
    for found in report["worst"].values():
        assert set(found["confirmed"]) == {"none", "greedy"}
    scenario = Scenario.from_yaml((out / "greedy.yaml").read_text())
    assert len(scenario.sensors) <= 5
    capsys.readouterr()
    replay = ["eval", "stop-sign/dropout", "StopSign", "--scenario", str(out / "greedy.yaml"), "--episodes", "2"]
    assert run([*replay, "--treatments", "greedy", "--seed", "5100000"]) == 0
    said, expected = capsys.readouterr().out, report["worst"]["greedy"]["confirmed"]["greedy"][0]
    assert f"score {expected:8.1f} " in said, "the seed of the faults is in the file"


@pytest.mark.parametrize(
    ("options", "problem"),
    [(["--fault", "glare"], "leave out --fault"), ([], "cannot read the scenario")],
)
def test_a_scenario_that_makes_no_sense(tmp_path, capsys, options, problem) -> None:
    assert run(["eval", "stop-sign/dropout", "StopSign", "--scenario", str(tmp_path / "none.yaml"), *options]) == 2
    assert problem in " ".join(capsys.readouterr().err.split())
