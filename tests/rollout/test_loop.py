"""The closed loop: what each moment says, by hand in a fake world, and the same episodes in waves of any size."""

from itertools import islice, pairwise

import numpy as np
import pytest

from tests import fake_world, tiny
from wiser.envs.domain import domain_of
from wiser.envs.vector import make_rows
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.treatments import TREATMENTS
from wiser.faults import Scenario
from wiser.guard import Guard
from wiser.rollout import Scorebook, Trial, check_fit, drive, waves

BROKEN = Scenario(faults=("gaussian",), sensors=("glow",), intensity=0.5, onset=1, seed=3)


@pytest.fixture(scope="module")
def model():
    return tiny.model(*fake_world.described(), tower="patch")


def test_moments_follow_the_world(model) -> None:
    """Seeds 0 and 1 of a world whose episodes have 3, 2, 4 and 1 steps; the step after an end begins the next one."""
    env = make_rows(fake_world.VECTOR, 2)
    guard = Guard(model, "none", rows=2, seed=0)
    moments = list(islice(drive(env, guard, 0), 6))
    where = np.array([moment.obs["where"][0, :3] for moment in moments])
    assert where.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 3], [0, 1, 0], [0, 1, 1]]
    assert [moment.first.tolist() for moment in moments[:5]] == [[True] * 2, *[[False] * 2] * 3, [True] * 2]
    assert [bool(moment.terminated[0]) for moment in moments[:4]] == [False, False, True, False]
    assert moments[5].truncated.tolist() == [True, True]
    assert [moment.reward[1] for moment in moments[:3]] == [fake_world.reward_of(1, 0, step) for step in (1, 2, 3)]
    for before, after in pairwise(moments[:3]):
        assert after.obs["where"][:, 3].tolist() == before.action.tolist()


def test_rows_that_begin_anew_forget(model) -> None:
    """The belief at the first step of an episode is that of a guard which has seen nothing before."""
    env = make_rows(fake_world.VECTOR, 1)
    moment = next(islice(drive(env, Guard(model, "none", rows=1, sample_latents=False), 0), 4, 5))
    assert moment.first.all()
    fresh = Guard(model, "none", rows=1, sample_latents=False)
    fresh.act(moment.obs, True)
    np.testing.assert_array_equal(moment.belief.deter, fresh.belief.deter)


def test_the_truth_is_that_of_the_sensors_of_the_agent(model) -> None:
    env = BROKEN.apply(make_rows(fake_world.VECTOR, 2))
    moments = list(islice(drive(env, Guard(model, "none", rows=2), 0), 2))
    column = [sensor.name for sensor in model.sensors].index("glow")
    assert not moments[0].broken.any()
    assert moments[1].intensity[:, column].tolist() == [0.5, 0.5]
    assert moments[1].broken.sum() == 2


def test_an_agent_that_names_its_sensors_in_another_order_has_the_same_truth(model) -> None:
    sensors, actions = fake_world.described()
    other = tiny.model(sensors[::-1], actions, tower="patch")
    env = BROKEN.apply(make_rows(fake_world.VECTOR, 2))
    moment = next(islice(drive(env, Guard(other, "none", rows=2), 0), 1, 2))
    assert dict(zip(moment.verdict.sensors, moment.broken[0], strict=True)) == {"where": False, "glow": True}


def test_readings_are_prepared_before_anybody_looks(model) -> None:
    env = make_rows(fake_world.VECTOR, 2)
    dark = drive(env, Guard(model, "none", rows=2), 0, lambda obs: {**obs, "glow": obs["glow"] * 0})
    assert not any(moment.obs["glow"].any() for moment in islice(dark, 3))


def test_a_scorebook_by_hand(model) -> None:
    book = Scorebook(domain_of(fake_world.STAGGERED), 4, 100)
    env = make_rows(fake_world.STAGGERED, 4)
    counted = []
    for moment in islice(drive(env, Guard(model, "none", rows=4), 0), 8):
        book.add(moment)
        counted.append(book.counted.copy())
    lengths = [3, 2, 4, 1]
    assert np.sum(counted, 0).tolist() == lengths
    results = [book.result(row) for row in range(4)]
    assert [result.length for result in results] == lengths
    paid = [sum(fake_world.reward_of(row, 0, s) for s in range(1, length + 1)) for row, length in enumerate(lengths)]
    assert [result.score for result in results] == paid
    assert [result.measures for result in results] == [{"success": value} for value in (0.0, 1.0, 1.0, 0.0)]
    assert [result.outcome for result in results] == ["over", "success", "success", "over"]


def test_an_episode_without_end_is_cut_off(model) -> None:
    (wave,) = waves(Trial(fake_world.LASTING, 2, 0, longest=7), model, lambda env, rows, seed: Guard(model, rows=rows))
    assert len(list(wave.moments)) == 7
    assert [(result.length, result.outcome) for result in map(wave.book.result, range(2))] == [(7, "out of time")] * 2


@pytest.mark.parametrize("rows", [1, 8, 9, 20])
def test_waves_of_any_size_drive_the_same_episodes(model, rows) -> None:
    whole, parts = (
        run_episodes(model, TREATMENTS["random"], Trial(fake_world.STAGGERED, 20, 5, BROKEN, rows=some))
        for some in (None, rows)
    )
    assert [episode.index for episode in parts] == list(range(20))
    assert whole == parts


def test_a_wave_has_eight_rows_at_least_if_only_to_fill_it(model) -> None:
    """Products of very few rows are rounded differently, where they are large."""
    trial = Trial(fake_world.VECTOR, 10, 0, rows=1)
    found = [
        (wave.start, wave.episodes, len(wave.book.running), int(wave.book.running.sum()))
        for wave in waves(trial, model, lambda env, rows, seed: Guard(model, rows=rows))
    ]
    assert found == [(0, 8, 8, 8), (8, 2, 8, 2)]


def test_who_is_watched_is_drawn_in_the_wave_that_drives_it(model) -> None:
    trial = Trial(fake_world.SINGLE, 10, 0, rows=8)
    shown = [
        {row: picture.shape for row, picture in next(wave.moments).pictures.items()}
        for wave in waves(trial, model, lambda env, rows, seed: Guard(model, rows=rows), watched=(9,))
    ]
    assert shown == [{}, {1: (160, 256, 3)}]


def test_environments_are_closed(model, monkeypatch) -> None:
    closed = []
    monkeypatch.setattr(fake_world.Worlds, "close", lambda self, **kwargs: closed.append(self))
    trial = Trial(fake_world.VECTOR, 10, 0, rows=8)
    run_episodes(model, TREATMENTS["none"], trial)
    assert len(closed) == 2
    with pytest.raises(RuntimeError, match="enough"):
        run_episodes(model, TREATMENTS["none"], trial, watch=_fail)
    assert len(closed) == 3


def _fail(wave, moment) -> None:
    raise RuntimeError("enough")


def test_an_agent_of_another_world_is_refused(model) -> None:
    sensors, actions = fake_world.described()
    with pytest.raises(ValueError, match="has no sensor 'radar'"):
        check_fit(tiny.model((tiny.image("radar"),), actions), make_rows(fake_world.VECTOR, 1), "this")
    with pytest.raises(ValueError, match="has the shape"):
        check_fit(tiny.model((tiny.image("glow", 32, 1),), actions), make_rows(fake_world.VECTOR, 1), "this")
    with pytest.raises(ValueError, match="other actions"):
        check_fit(tiny.model(sensors), make_rows(fake_world.VECTOR, 1), "this")


@pytest.mark.parametrize("wrong", [{"episodes": 0}, {"rows": 0}, {"longest": -1}])
def test_impossible_trials_are_refused(wrong) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Trial(**{"env": fake_world.VECTOR, "episodes": 1, "seed": 0, **wrong})
