"""Rollouts: paired, per row, and counted as by hand."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

import wiser
from wiser.envs.domain import references
from wiser.evaluate.methods import METHODS, Method, find_method, median_filter
from wiser.evaluate.rollout import Moment, Tally, Trial, rollout, sensor_scores
from wiser.faults import Scenario
from wiser.guard import Guard, Mode, Verdict

ENV = "wiser/StopSign-v0"
GLARE = Scenario(faults=("glare",), sensors=5, onset=20, seed=3)


@pytest.fixture(scope="module")
def agent():
    return wiser.load("stop-sign/dropout")


def by_hand(agent, seed: int, steps: int) -> list[float]:
    """Running score of one unguarded episode, in an ordinary single environment."""
    env = gymnasium.make(ENV, sensors=tuple(sensor.name for sensor in agent.sensors))
    guard, total, scores = Guard(agent, "none", seed=seed), 0.0, []
    obs, _ = env.reset(seed=seed)
    for _ in range(steps):
        obs, reward, terminated, truncated, _ = env.step(guard.act(obs)[0])
        total += float(reward)
        scores.append(total)
        if terminated or truncated:
            break
    return scores


def test_a_row_is_the_episode_one_would_drive_by_hand(agent) -> None:
    seen: list[float] = []
    episodes = rollout(agent, Method("", "none"), Trial(ENV, 2, 900_000), lambda moment: seen.append(moment.reward[1]))
    alone = by_hand(agent, 900_001, 500)
    assert episodes[1].length == len(alone)
    np.testing.assert_allclose(np.cumsum(seen)[: len(alone)], alone, rtol=1e-4, atol=1e-3)
    assert episodes[1].score == pytest.approx(alone[-1], rel=1e-4, abs=1e-3)


def test_counts_end_with_the_episode(agent) -> None:
    moments: list[Moment] = []
    episodes = rollout(agent, Method("", "greedy"), Trial(ENV, 2, 900_000, GLARE), moments.append)
    for row, episode in enumerate(episodes):
        steps = [moment for i, moment in enumerate(moments) if i == 0 or moments[i - 1].running[row]]
        assert episode.length == len(steps)
        assert episode.score == pytest.approx(sum(moment.reward[row] for moment in steps))
        assert episode.detection.faulty_steps == sum(bool(moment.broken[row].any()) for moment in steps)
        assert episode.detection.clean_steps == 20
        assert len(episode.failed) == 5
        shares = (episode.grounded, episode.denoised, episode.predictive, episode.fallback)
        assert sum(shares) == pytest.approx(1.0)


def test_every_method_meets_the_same_faults(agent) -> None:
    trial = Trial(ENV, 2, 900_000, GLARE)
    first, second = (rollout(agent, Method("", how), trial) for how in ("none", "greedy"))
    assert [episode.failed for episode in first] == [episode.failed for episode in second]
    assert [episode.env_seed for episode in first] == [900_000, 900_001]


def test_a_trial_repeats_byte_for_byte(agent) -> None:
    trial = Trial(ENV, 2, 900_000, GLARE)
    assert rollout(agent, METHODS["rme"], trial) == rollout(agent, METHODS["rme"], trial)


def test_median_filter_is_the_median_of_nine() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 6, 7, 3), np.uint8)
    framed = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect")
    nine = [framed[:, i : i + 6, j : j + 7] for i in range(3) for j in range(3)]
    np.testing.assert_array_equal(median_filter(images), np.median(np.stack(nine), axis=0).astype(np.uint8))
    vector = np.ones((2, 3), np.float32)
    assert median_filter(vector) is vector


def test_methods_prepare_what_the_guard_sees() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 6, 7, 3), np.uint8)
    obs = {"camera": images, "speed": np.ones((2, 3), np.float32)}
    assert METHODS["single"].prepare(obs) is obs
    filtered = METHODS["filter"].prepare(obs)
    np.testing.assert_array_equal(filtered["camera"], median_filter(images))
    assert not np.array_equal(filtered["camera"], images)
    assert filtered["speed"] is obs["speed"]


def test_unknown_methods_are_named() -> None:
    with pytest.raises(ValueError, match="there are base, augmented"):
        find_method("best")


def test_benchmark_compares_and_prints(agent, tmp_path) -> None:
    table = wiser.benchmark(agent, ENV, [GLARE], ["none", "greedy"], episodes=2, seed=900_000)
    assert [(row.scenario, row.method) for row in table] == [
        ("clean", "none"), ("clean", "greedy"), ("glare 1 on 5 sensors", "none"), ("glare 1 on 5 sensors", "greedy"),
    ]  # fmt: skip
    direct = rollout(agent, Method("", "greedy"), Trial(ENV, 2, 900_000, GLARE))
    assert table[3].score == pytest.approx(np.mean([episode.score for episode in direct]))
    floor, _ = references("StopSign")
    assert table[3].resilience == pytest.approx((table[3].score - floor) / (table[0].score - floor))
    assert table[0].resilience == pytest.approx(1)
    assert "glare 1 on 5 sensors" in str(table)
    table.to_csv(tmp_path / "table.csv")
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 5


def verdict(modes: list[Mode], trusted: list[list[bool]], **scores) -> Verdict:
    rows = len(modes)
    return Verdict(
        sensors=("camera", "lidar"), mode=np.array(modes), trusted=np.array(trusted), healthy=np.ones((rows, 2), bool),
        reasons=[{}] * rows, surprise=np.ones(rows), scores=scores, blind_steps=np.zeros(rows),
        reset=np.zeros(rows, bool),
    )  # fmt: skip


def test_a_tally_by_hand() -> None:
    """Two rows; the second ends after two steps, and whatever its environment does afterwards is not its episode."""
    agent = SimpleNamespace(sensors=(SimpleNamespace(name="camera"), SimpleNamespace(name="lidar")))
    tally = Tally(Trial("any", 2, 40, Scenario(faults=("glare",), sensors=1, seed=9)), agent)
    none, first, second = (0, 0), (1, 0), (0, 1)
    steps = [  # modes, trusted, broken, reward, done, cost, success, collision
        ((0, 0), [(1, 1), (1, 1)], [none, none], (1.0, 10.0), none, (0.5, 4.0), none, none),
        ((0, 2), [(1, 0), (0, 0)], [none, second], (2.0, 20.0), second, (0.0, 5.0), second, none),
        ((2, 0), [(0, 0), (0, 0)], [first, first], (4.0, 99.0), (1, 1), (0.25, 99.0), second, (1, 1)),
    ]
    for modes, trusted, broken, reward, done, cost, success, collision in steps:
        tally.see(verdict([Mode(mode) for mode in modes], np.array(trusted, bool)), np.array(broken, bool))
        info = {"cost": np.array(cost), "success": np.array(success), "collision": np.array(collision)}
        tally.score(np.array(reward), np.array(done, bool), info)
    assert not tally.running.any()
    one, two = tally.episodes()
    assert (one.score, one.length, one.cost, one.success, one.collision) == (7.0, 3, 0.75, False, True)
    assert (two.score, two.length, two.cost, two.success, two.collision) == (30.0, 2, 9.0, True, False)
    assert (one.failed, two.failed) == (("camera",), ("lidar",))
    assert (one.grounded, one.predictive) == pytest.approx((2 / 3, 1 / 3))
    assert (two.grounded, two.predictive) == pytest.approx((1 / 2, 1 / 2))
    assert (one.env_seed, two.env_seed, one.fault_seed) == (40, 41, 9)
    assert (one.detection.clean_steps, one.detection.faulty_steps, one.detection.alarms) == (2, 1, 1)
    assert (two.detection.clean_steps, two.detection.faulty_steps, two.detection.hits) == (1, 1, 1)


def test_the_score_of_a_sensor_is_its_own_surprise_or_that_of_the_only_one() -> None:
    trusted = [[True, True]] * 2
    alone = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert (
        sensor_scores(verdict([Mode(0)] * 2, trusted, isolated_surprise=alone, score=alone[:, 0])).tolist()
        == alone.tolist()
    )
    assert sensor_scores(verdict([Mode(0)] * 2, trusted, score=alone[:, 0])).tolist() == [[1.0, 1.0], [3.0, 3.0]]
    assert np.isnan(sensor_scores(verdict([Mode(0)] * 2, trusted))).all()
