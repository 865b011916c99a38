"""What `wiser.benchmark` makes of scores; the driving itself is tested with the rollouts."""

import csv
from types import SimpleNamespace

import pytest

from wiser.envs.domain import find_task, references
from wiser.evaluate import benchmark as module
from wiser.evaluate.benchmark import benchmark
from wiser.faults import Scenario

AGENT = SimpleNamespace(folder=None)
GLARE = {"glare": Scenario(faults=("glare",), sensors=1)}


@pytest.fixture
def table(monkeypatch):
    """Benchmarks of an agent with these scores: clean, then under glare; treatment by treatment."""

    def run(*means: float, env: str = "Pendulum-v1", floor: float | None = None):
        left = iter(means)

        def run_episodes(*_):
            score = next(left)
            ends = ((score - 1, {"success": 1.0}), (score + 1, {"success": 0.0}))
            return [SimpleNamespace(score=score, measures=measures) for score, measures in ends]

        monkeypatch.setattr(module, "run_episodes", run_episodes)
        monkeypatch.setattr(module, "rehearse", lambda *_: None)
        monkeypatch.setattr(module, "away_from_home", lambda *_: "")
        treatments = ["none", "greedy"][: len(means) // 2]
        return benchmark(AGENT, env, GLARE, treatments, episodes=2, floor=floor)

    return run


def shares(table) -> dict[tuple[str, str], float | None]:
    return {(row.scenario, row.treatment): row.resilience for row in table}


def test_resilience_counts_from_the_floor_to_the_clean_score_of_the_first_method(table) -> None:
    assert shares(table(-200.0, -1100.0, -300.0, -400.0, floor=-1200.0)) == pytest.approx(
        {("clean", "none"): 1.0, ("glare", "none"): 0.1, ("clean", "greedy"): 0.9, ("glare", "greedy"): 0.8}
    )


def test_the_floor_is_a_random_policy_where_one_was_measured(table) -> None:
    random, _ = references("StopSign")
    found = table(random + 200, random + 50, env="wiser/StopSign-v0")
    assert found[1].resilience == pytest.approx(0.25)
    assert find_task("wiser/StopSign-v0").random == random
    assert find_task("Pendulum-v1").random is None


@pytest.mark.parametrize(
    ("clean", "floor"), [(-1205.0, None), (0.0, None), (-1205.0, -1205.0), (0.0, 0.0), (-5.0, 3.0)]
)
def test_without_a_floor_below_the_clean_score_there_is_no_resilience(table, tmp_path, clean, floor) -> None:
    found = table(clean, -1296.0, floor=floor)
    assert set(shares(found).values()) == {None}
    header, *rows, footer = str(found).splitlines()
    assert header.split()[-2:] == ["resilience", "success"]
    assert [row.split()[-2:] for row in rows] == [["-", "50%"]] * 2
    assert "1 the clean score of none" in footer
    found.to_csv(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="") as file:
        assert [row["resilience"] for row in csv.DictReader(file)] == ["", ""]


def test_scenarios_that_differ_in_anything_are_rows_of_their_own(monkeypatch) -> None:
    monkeypatch.setattr(module, "run_episodes", lambda *_: [SimpleNamespace(score=1.0, measures={})] * 2)
    monkeypatch.setattr(module, "rehearse", lambda *_: None)
    monkeypatch.setattr(module, "away_from_home", lambda *_: "")
    changes: list[dict] = [{}, {"onset": 5}, {"proportion": 0.5}, {"intensity": 0.5}, {"preset": "paper"}]
    scenarios = [Scenario(**{"faults": ("glare",), "sensors": 1, **change}) for change in changes]
    found = benchmark(AGENT, "Pendulum-v1", scenarios, ["none"], episodes=2)
    assert len({row.scenario for row in found}) == 1 + len(changes)
    assert found.measures == []
    assert "success" not in str(found)
    with pytest.raises(ValueError, match="described alike"):
        benchmark(AGENT, "Pendulum-v1", [scenarios[0], Scenario(faults=("glare",), sensors=1, seed=9)], ["none"])
