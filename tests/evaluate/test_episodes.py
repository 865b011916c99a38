"""Episodes: paired, per row, and counted as by hand."""

from contextlib import closing

import gymnasium
import numpy as np
import pytest

import wiser
from tests import fake_world, tiny
from wiser.envs.domain import Domain, Measure, references
from wiser.envs.vector import make_rows
from wiser.evaluate.contenders import agent_name, find_contender
from wiser.evaluate.episodes import Tally, run_episodes, sensor_scores
from wiser.evaluate.treatments import TREATMENTS, Treatment, find_treatment, median_filter
from wiser.faults import Scenario
from wiser.guard import Guard, Health, Mode, Verdict
from wiser.rollout import Moment, Scorebook, Trial

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
    trial = Trial(ENV, 2, 900_000)
    episodes = run_episodes(agent, Treatment(), trial, lambda wave, moment: seen.append(moment.reward[1]))
    alone = by_hand(agent, 900_001, 500)
    assert episodes[1].length == len(alone)
    np.testing.assert_allclose(np.cumsum(seen)[: len(alone)], alone, rtol=1e-4, atol=1e-3)
    assert episodes[1].score == pytest.approx(alone[-1], rel=1e-4, abs=1e-3)


def test_counts_end_with_the_episode(agent) -> None:
    moments: list[tuple[Moment, np.ndarray]] = []
    episodes = run_episodes(
        agent, Treatment("greedy"), Trial(ENV, 2, 900_000, GLARE), lambda w, m: moments.append((m, w.book.counted))
    )
    for row, episode in enumerate(episodes):
        steps = [moment for moment, counted in moments if counted[row]]
        assert episode.length == len(steps)
        assert episode.score == pytest.approx(sum(moment.reward[row] for moment in steps))
        assert episode.detection.faulty_steps == sum(bool(moment.broken[row].any()) for moment in steps)
        assert episode.detection.clean_steps == 20
        assert len(episode.failed) == 5
        assert sum(episode.modes.values()) == pytest.approx(1.0)


def test_every_method_meets_the_same_faults(agent) -> None:
    trial = Trial(ENV, 2, 900_000, GLARE)
    first, second = (run_episodes(agent, Treatment(how), trial) for how in ("none", "greedy"))
    assert [episode.failed for episode in first] == [episode.failed for episode in second]
    assert [episode.env_seed for episode in first] == [900_000, 900_001]


def test_a_trial_repeats_byte_for_byte(agent) -> None:
    trial = Trial(ENV, 2, 900_000, GLARE)
    assert run_episodes(agent, TREATMENTS["random"], trial) == run_episodes(agent, TREATMENTS["random"], trial)


def test_median_filter_is_the_median_of_nine() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 6, 7, 3), np.uint8)
    framed = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect")
    nine = [framed[:, i : i + 6, j : j + 7] for i in range(3) for j in range(3)]
    np.testing.assert_array_equal(median_filter(images), np.median(np.stack(nine), axis=0).astype(np.uint8))
    vector = np.ones((2, 3), np.float32)
    assert median_filter(vector) is vector


def test_treatments_prepare_what_the_guard_sees() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 6, 7, 3), np.uint8)
    obs = {"camera": images, "speed": np.ones((2, 3), np.float32)}
    assert TREATMENTS["reject"].prepare(obs) is obs
    filtered = TREATMENTS["median"].prepare(obs)
    np.testing.assert_array_equal(filtered["camera"], median_filter(images))
    assert not np.array_equal(filtered["camera"], images)
    assert filtered["speed"] is obs["speed"]


def test_what_a_treatment_does_reaches_the_guard_and_its_eyes() -> None:
    model = tiny.model(*fake_world.described(sensors=fake_world.DRIFTING))
    seen = {}
    for name in ("none", "median"):
        trial = Trial(fake_world.CAMERAS, 1, 0, longest=1)
        run_episodes(model, TREATMENTS[name], trial, lambda wave, moment, name=name: seen.update({name: moment.obs}))
    np.testing.assert_array_equal(seen["median"]["camera"], median_filter(seen["none"]["camera"]))
    with closing(make_rows(fake_world.VECTOR, 2)) as env:
        plain = tiny.model(*fake_world.described(), tower="patch")
        careful = Treatment("none", health=Health(frozen_after=9), blind_limit=3)
        guard = careful.guard(plain, fake_world.VECTOR, env, 2, seed=5)
    assert (guard.blind_limit, guard.monitor.checks.frozen_after) == (3, 9)
    assert guard.fallback(None) == fake_world.world.CHOICES.start


def test_unknown_names_are_named() -> None:
    with pytest.raises(ValueError, match="there are base, augmented"):
        find_contender("best")
    with pytest.raises(ValueError, match="there are auto, none, random, greedy"):
        find_treatment("best")
    with pytest.raises(ValueError, match="no agents are shipped for CartPole-v1"):
        agent_name("CartPole-v1", "dropout")
    assert agent_name("CartPole-v1", "runs/mine/model") == "runs/mine/model"
    assert agent_name("StopSign", "dropout") == "stop-sign/dropout"


def test_a_treatment_can_be_written_in_a_plan() -> None:
    read = Treatment.from_dict({"judge": "greedy", "health": {"frozen_after": 3}, "blind_limit": 4})
    assert read == Treatment("greedy", health=Health(frozen_after=3), blind_limit=4)
    with pytest.raises(ValueError, match="unknown fields \\['juge'\\]"):
        Treatment.from_dict({"juge": "greedy"})
    with pytest.raises(ValueError, match=r"Health.* 'frozen'"):
        Treatment.from_dict({"health": {"frozen": 3}})


def test_blind_for_too_long_the_car_stops(agent) -> None:
    """Nothing arrives from step 10 on: after five steps without any sensor the domain's safe action is taken."""
    lost = Scenario(faults=("missing",), sensors=6, onset=10, seed=3)
    trial = Trial(ENV, 2, 900_000, lost)
    actions: list[np.ndarray] = []
    (episode, _) = run_episodes(
        agent, Treatment("greedy", blind_limit=5), trial, lambda wave, moment: actions.append(moment.action)
    )
    assert episode.modes["fallback"] > 0.5
    assert all((action == 2).all() for action in actions[15:40]), "brake, wheel straight"
    (unlimited, _) = run_episodes(agent, Treatment("greedy"), trial)
    assert "fallback" not in unlimited.modes


def test_benchmark_compares_and_prints(agent, tmp_path) -> None:
    table = wiser.benchmark(agent, ENV, [GLARE], ["none", "greedy"], episodes=2, seed=900_000)
    glare = "glare 1 on 5 sensors, from step 20"
    assert [(row.scenario, row.treatment) for row in table] == [
        ("clean", "none"), ("clean", "greedy"), (glare, "none"), (glare, "greedy"),
    ]  # fmt: skip
    direct = run_episodes(agent, Treatment("greedy"), Trial(ENV, 2, 900_000, GLARE))
    assert table[3].measures["success"] == np.mean([episode.measures["success"] for episode in direct])
    assert table[3].score == pytest.approx(np.mean([episode.score for episode in direct]))
    floor, _ = references("StopSign")
    assert table[3].resilience == pytest.approx((table[3].score - floor) / (table[0].score - floor))
    assert table[0].resilience == pytest.approx(1)
    assert glare in str(table)
    table.to_csv(tmp_path / "table.csv")
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 5


def verdict(modes: list[Mode], trusted: list[list[bool]], **scores) -> Verdict:
    rows = len(modes)
    return Verdict(
        sensors=("camera", "lidar"), mode=np.array(modes), trusted=np.array(trusted), healthy=np.ones((rows, 2), bool),
        level=np.zeros((rows, 2), int), delay=np.zeros((rows, 2), int), reasons=[{}] * rows,
        surprise=np.ones(rows), scores=scores, blind_steps=np.zeros(rows),
        reset=np.zeros(rows, bool),
    )  # fmt: skip


def test_a_tally_by_hand() -> None:
    """Two rows; the second ends after two steps, and whatever its environment does afterwards is not its episode."""
    domain = Domain(measures={"cost": Measure("sum", "less", "cost"), "success": Measure("any", "more", "success"),
                              "level": Measure("last", "more", "level")})  # fmt: skip
    book = Scorebook(domain, 2, 100)
    tally = Tally(book, ("camera", "lidar"))
    none, first, second = (0, 0), (1, 0), (0, 1)
    steps = [  # modes, trusted, broken, reward, done, cost, success, level
        ((0, 0), [(1, 1), (1, 1)], [none, none], (1.0, 10.0), none, (0.5, 4.0), none, (5, 6)),
        ((0, 2), [(1, 0), (0, 0)], [none, second], (2.0, 20.0), second, (0.0, 5.0), (1, 1), (3, 2)),
        ((2, 0), [(0, 0), (0, 0)], [first, first], (4.0, 99.0), (1, 1), (0.25, 99.0), second, (4, 9)),
    ]
    for modes, trusted, broken, reward, done, cost, success, level in steps:
        info = {"cost": np.array(cost), "success": np.array(success), "level": np.array(level)}
        moment = Moment(
            {}, np.zeros(2, bool), verdict([Mode(mode) for mode in modes], np.array(trusted, bool)), None,
            np.array(broken, np.float32), np.zeros(2), np.array(reward), np.array(done, bool), np.zeros(2, bool), info,
            {},
        )  # fmt: skip
        book.add(moment)
        tally.add(moment)
    assert not book.running.any()
    trial = Trial("any", 9, 40, Scenario(faults=("glare",), sensors=1, seed=9))
    one, two = (tally.finish(row, trial, 3 + row) for row in range(2))
    assert (one.score, one.length, one.measures) == (7.0, 3, {"cost": 0.75, "success": 1.0, "level": 4.0})
    assert (two.score, two.length, two.measures) == (30.0, 2, {"cost": 9.0, "success": 1.0, "level": 2.0})
    assert (one.failed, two.failed) == (("camera",), ("lidar",))
    assert one.modes == pytest.approx({"grounded": 2 / 3, "predictive": 1 / 3})
    assert two.modes == pytest.approx({"grounded": 1 / 2, "predictive": 1 / 2})
    assert (one.index, two.index, one.env_seed, two.env_seed, one.fault_seed) == (3, 4, 43, 44, 9)
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
