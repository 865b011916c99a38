"""The demo, shortened: what it drives, the numbers it prints, the episodes it chooses and the pages it leaves."""

import re

import numpy as np
import pytest
from rich.table import Table

from tests.record.test_page_is_self_contained import data_in
from wiser import demo
from wiser.evaluate.records import Episode

LANES = ("clean", "broken, no guard", "broken, guarded")
EPISODES, LONGEST = 8, 90
PAGES = ("best", "median", "worst")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What was driven, what was said, and the folder with the pages. Episodes are cut short: two passes take long."""
    driven, said, folder = [], [], tmp_path_factory.mktemp("demo")
    run_episodes, trial = demo.run_episodes, demo.Trial

    def noted(agent, treatment, trial, watch, watched):
        episodes = run_episodes(agent, treatment, trial, watch, watched)
        driven.append((treatment, trial, tuple(watched), episodes))
        return episodes

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "run_episodes", noted)
        patch.setattr(demo, "Trial", lambda *given: trial(*given, longest=LONGEST))
        patch.setattr(demo.Console, "print", lambda self, *what, **_: said.extend(what))
        demo.run_demo("stop-sign/dropout", "wiser/StopSign-v0", "glare", 5, EPISODES, folder)
    return driven, said, folder


@pytest.fixture(scope="module")
def counted(run) -> dict[str, list[Episode]]:
    return {lane: episodes for lane, (*_, episodes) in zip(LANES, run[0], strict=False)}


def test_the_same_episodes_are_driven_clean_broken_and_guarded(run) -> None:
    driven, _, _ = run
    assert [treatment.judge for treatment, *_ in driven] == ["none", "none", "auto"] * 2
    trials = [trial for _, trial, *_ in driven]
    assert [trial.disturbance is None for trial in trials] == [True, False, False] * 2
    assert trials[1] == trials[2]
    assert {(trial.seed, trial.episodes) for trial in trials} == {(7_000_000, EPISODES)}
    scenario = trials[1].disturbance
    assert (scenario.faults, scenario.sensors, scenario.onset) == (("glare",), 5, 60)
    failed = {len(episode.failed) for *_, episodes in driven[1:3] for episode in episodes}
    assert failed == {5}
    assert not any(episode.failed for episode in driven[0][-1])


def test_what_is_recorded_is_what_was_counted(run, counted) -> None:
    driven, _, _ = run
    assert [watched for _, _, watched, _ in driven[:3]] == [()] * 3
    assert {watched for _, _, watched, _ in driven[3:]} == {tuple(demo.choose(counted))}
    assert [episodes for *_, episodes in driven[3:]] == [episodes for *_, episodes in driven[:3]]


def test_a_difference_between_the_passes_is_not_passed_over(run, monkeypatch, tmp_path) -> None:
    kept = [episodes for *_, episodes in run[0]]
    passes = iter([*kept[:5], kept[0]])
    monkeypatch.setattr(demo, "run_episodes", lambda *_, **__: next(passes))
    with pytest.raises(AssertionError, match="not what was counted"):
        demo.run_demo("stop-sign/dropout", "wiser/StopSign-v0", "glare", 5, EPISODES, tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_table_holds_their_means(run, counted) -> None:
    table = next(thing for thing in run[1] if isinstance(thing, Table))
    rows = list(zip(*(column.cells for column in table.columns), strict=True))
    assert [lane for lane, *_ in rows] == list(LANES)
    for lane, score, success, collisions in rows:
        value, low, high = map(float, re.fullmatch(r"(-?\d+) \((-?\d+) to (-?\d+)\)", score).groups())
        scores = [episode.score for episode in counted[lane]]
        assert value == pytest.approx(np.mean(scores), abs=0.51)
        assert min(scores) - 1 <= low <= value <= high <= max(scores) + 1
        assert (success, collisions) == (share(counted[lane], "success"), share(counted[lane], "collision"))


def share(episodes: list[Episode], name: str) -> str:
    return f"{100 * np.mean([episode.measures[name] for episode in episodes]):.0f}%"


def test_pages_show_the_best_the_median_and_the_worst(run, counted) -> None:
    _, said, folder = run
    assert sorted(page.name for page in folder.iterdir()) == ["best.html", "median.html", "worst.html"]
    assert str(folder / "median.html") in said[-1]
    gains = [b.score - a.score for a, b in zip(counted[LANES[1]], counted[LANES[2]], strict=True)]
    ranked = np.argsort(gains, kind="stable")
    for name, episode in zip(PAGES, (ranked[-1], ranked[(EPISODES - 1) // 2], ranked[0]), strict=True):
        data = data_in((folder / f"{name}.html").read_text())
        assert data["about"]["seeds"] == [7_000_000 + episode]
        assert data["sample"]["shown"] == episode
        assert [one["number"] for one in data["sample"]["episodes"]] == ranked.tolist()
        for one in data["sample"]["episodes"]:
            assert one["scores"] == [counted[lane][one["number"]].score for lane in LANES]
        named = {one["label"].split()[0]: one["page"] for one in data["sample"]["episodes"] if one["page"]}
        assert named == {name: f"{name}.html" for name in PAGES}


def test_each_page_replays_its_episode_in_every_lane_with_the_car_in_view(run, counted) -> None:
    for name in PAGES:
        data = data_in((run[2] / f"{name}.html").read_text())
        assert [lane["name"] for lane in data["lanes"]] == list(LANES)
        assert [lane["method"] for lane in data["lanes"]] == ["none", "none", "witnesses"]
        for lane in data["lanes"]:
            episode = counted[lane["name"]][data["sample"]["shown"]]
            assert lane["steps"] == len(lane["surprise"]) == episode.length
            assert lane["measure"][-1] == pytest.approx(episode.score, rel=1e-3)
            assert lane["mode"].count(0) == round(episode.modes.get("grounded", 0) * episode.length)
            assert lane["view"]["width"] >= 300
            broken = sum(sum(1 for word in column if word) for column in lane["fault"])
            assert broken == len(episode.failed) * max(0, episode.length - 60)


def test_few_episodes_have_few_pages() -> None:
    def driven(*gains: float) -> dict[str, list[Episode]]:
        scores = {LANES[0]: gains, LANES[1]: [0.0] * len(gains), LANES[2]: gains}
        made = {"env_seed": 0, "fault_seed": 0, "failed": (), "length": 1, "outcome": ""}
        return {lane: [Episode(index=k, score=s, **made) for k, s in enumerate(some)] for lane, some in scores.items()}

    assert demo.choose(driven(3.0)) == {0: "best for the guard"}
    assert demo.choose(driven(3.0, 1.0)) == {0: "best for the guard", 1: "worst"}
    assert demo.choose(driven(3.0, 1.0, 2.0)) == {0: "best for the guard", 1: "worst", 2: "median"}
    assert demo.choose(driven(3.0, 1.0, 2.0, 2.5))[2] == "median", "the lesser of two"


def test_one_page_leads_to_the_others(run, visit) -> None:
    page = visit((run[2] / "median.html").as_uri(), offline=True)
    assert page.locator("#sample nav a").all_text_contents() == ["best for the guard", "median", "worst"]
    page.locator("#sample nav a", has_text="worst").click()
    page.wait_for_url("**/worst.html")
    assert page.locator("#sample [aria-current]").text_content() == "worst"
    page.keyboard.press("1")
    page.wait_for_url("**/best.html")
    assert page.locator("#sample [aria-current]").text_content() == "best for the guard"
