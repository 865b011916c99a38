"""The demo, shortened: what it drives, the numbers it prints and the page it leaves."""

import json
import re

import numpy as np
import pytest
from rich.table import Table

from wiser import demo
from wiser.evaluate.records import Episode

LANES = ("clean", "broken, no guard", "broken, guarded")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What was driven, what was said, and the page."""
    driven, folder = [], tmp_path_factory.mktemp("demo")

    def watched(agent, method, trial, watch):
        driven.append((method, trial, rollout(agent, method, trial, watch)))
        return driven[-1][2]

    rollout = demo.rollout
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "rollout", watched)
        capture: list = []
        patch.setattr(demo.Console, "print", lambda self, *what, **_: capture.extend(what))
        demo.demo("stop-sign/dropout", "wiser/StopSign-v0", broken=4, episodes=2, out=folder, threads=1)
    return driven, capture, (folder / "demo.html").read_text()


def test_the_same_episodes_are_driven_clean_broken_and_guarded(run) -> None:
    driven, _, _ = run
    assert [method.judge for method, *_ in driven] == ["none", "none", "greedy"]
    trials = [trial for _, trial, _ in driven]
    assert [trial.scenario is None for trial in trials] == [True, False, False]
    assert trials[1] == trials[2]
    assert {(trial.seed, trial.episodes) for trial in trials} == {(7_000_000, 2)}
    assert (trials[1].scenario.faults, trials[1].scenario.sensors, trials[1].scenario.onset) == (("glare",), 4, 60)
    assert [len(episode.failed) for _, _, episodes in driven for episode in episodes] == [0, 0, 4, 4, 4, 4]


def test_the_table_holds_their_means(run) -> None:
    driven, said, _ = run
    table = next(thing for thing in said if isinstance(thing, Table))
    rows = list(zip(*(column.cells for column in table.columns), strict=True))
    for (lane, score, success, collisions), (_, _, episodes), name in zip(rows, driven, LANES, strict=True):
        assert lane == name
        value, low, high = map(float, re.fullmatch(r"(-?\d+) \((-?\d+) to (-?\d+)\)", score).groups())
        scores = sorted(episode.score for episode in episodes)
        assert (value, low, high) == pytest.approx((np.mean(scores), *scores), abs=0.51), "of two, all there is"
        assert success == share(episodes, "success")
        assert collisions == share(episodes, "collision")


def share(episodes: list[Episode], name: str) -> str:
    return f"{100 * sum(getattr(episode, name) for episode in episodes) // len(episodes)}%"


def test_the_page_replays_the_first_episode_of_each_lane(run) -> None:
    driven, _, page = run
    data = json.loads(re.search(r'id="recording">(.*?)</script>', page, re.S)[1])
    assert [lane["name"] for lane in data["lanes"]] == list(LANES)
    for lane, (_, _, episodes) in zip(data["lanes"], driven, strict=True):
        first = episodes[0]
        assert lane["steps"] == len(lane["surprise"]) == first.length
        assert lane["mode"].count(0) == round(first.grounded * first.length)
        broken = sum(sum(1 for word in column if word) for column in lane["fault"])
        assert broken == first.detection.broken == len(first.failed) * max(0, first.length - 60)
        distrusted = sum(state != "t" for column in lane["state"] for state in column)
        assert distrusted == first.detection.distrusted + sum(first.detection.sensor_alarms)
