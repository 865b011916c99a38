"""Episodes of many trials through shared rows: the same ones, bit for bit, as when each trial is driven by itself."""

from dataclasses import replace

import numpy as np
import pytest

import wiser
from tests import fake_world, tiny
from wiser.evaluate import relay
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.relay import fits, run_trials
from wiser.evaluate.treatments import TREATMENTS, Treatment
from wiser.faults import Scenario
from wiser.guard import Health
from wiser.rollout import Trial, complete

GAUSSIAN = Scenario(faults=("gaussian",), sensors=("glow",), intensity=0.5, onset=1, seed=3)
FROZEN = Scenario(faults=("freeze",), sensors=1, proportion=0.5, seed=4)
GONE = Scenario(faults=("dropout",), sensors=("where",), onset=1, seed=4)
STOP = "wiser/StopSign-v0"


@pytest.fixture(scope="module")
def model():
    return tiny.model(*fake_world.described(), tower="patch")


def alone(agent, treatment: Treatment, trials: list[Trial]):
    return [run_episodes(agent, treatment, trial) for trial in trials]


@pytest.mark.parametrize(
    ("world", "processes"), [(fake_world.STAGGERED, False), (fake_world.CAMERAS, False), (fake_world.CAMERAS, True)]
)
def test_the_same_episodes_as_by_themselves(world, processes) -> None:
    """Rows are fewer than episodes, so that most of them begin where another trial's episode has ended."""
    sensors = (
        fake_world.described() if world == fake_world.STAGGERED else fake_world.described(sensors=fake_world.DRIFTING)
    )
    agent = tiny.model(*sensors, tower="patch")
    broken = Scenario(faults=("gaussian",), sensors=1, intensity=0.5, onset=1, seed=3)
    trials = [
        Trial(world, 11, 5, broken),
        Trial(world, 9, 40),
        Trial(world, 8, 5, replace(broken, faults=("freeze",), seed=7)),
    ]
    shared = [replace(trial, rows=8, processes=processes) for trial in trials]
    treatment = Treatment("random", health=Health(frozen_after=2))
    assert run_trials(agent, treatment, shared) == alone(agent, treatment, trials)


@pytest.mark.parametrize("name", sorted(TREATMENTS))
def test_no_treatment_remembers_what_a_row_was_about_before(name) -> None:
    """With what ships, calibrations and all: judges that remember forget, and draws begin anew."""
    single = name in ("median", "reject", "reject-reference", "predict")
    agent = wiser.load("stop-sign/single" if single else "stop-sign/dropout")
    glare = Scenario(faults=("glare",), sensors=1 if single else 3, proportion=0.75, seed=3)
    trials = [
        Trial(STOP, 9, 900_000, glare, longest=7), Trial(STOP, 8, 900_030, longest=7),
        Trial(STOP, 8, 900_000, replace(glare, faults=("lag",)), longest=7),
    ]  # fmt: skip
    shared = [replace(trial, rows=10) for trial in trials]
    assert run_trials(agent, TREATMENTS[name], shared) == alone(agent, TREATMENTS[name], trials)


def test_no_row_waits_while_episodes_do(model, monkeypatch) -> None:
    """Episodes of 3, 2, 4 and 1 steps, 20 in all and 50 steps together, on 8 rows: 7 steps at least, and not 4 each."""
    taken, step = [], relay.step
    monkeypatch.setattr(relay, "step", lambda *given: taken.append(1) or step(*given))
    driven = run_trials(model, TREATMENTS["none"], [Trial(fake_world.STAGGERED, 10, seed, rows=8) for seed in (0, 90)])
    steps = sum(episode.length for episodes in driven for episode in episodes)
    assert np.ceil(steps / 8) <= len(taken) <= np.ceil(steps / 8) + 4
    assert [[episode.index for episode in episodes] for episodes in driven] == [list(range(10))] * 2


def test_few_episodes_have_eight_rows_all_the_same(model, monkeypatch) -> None:
    made = []
    make = relay.make_rows
    monkeypatch.setattr(relay, "make_rows", lambda env, rows, *given: made.append(rows) or make(env, rows, *given))
    run_trials(model, TREATMENTS["none"], [Trial(fake_world.STAGGERED, 3, 0, rows=32)])
    assert made == [8]


def test_every_row_can_be_broken_in_its_own_way(model) -> None:
    trials = [Trial(fake_world.VECTOR, 4, 5, how, rows=8) for how in (GAUSSIAN, None, GONE, FROZEN)]
    failed = [
        {name for episode in own for name in episode.failed} for own in run_trials(model, TREATMENTS["none"], trials)
    ]
    assert failed[:3] == [{"glow"}, set(), {"where"}]
    assert failed[3] <= {"glow", "where"}


def test_who_fits() -> None:
    assert fits(Trial(fake_world.VECTOR, 1, 0))
    assert fits(Trial(fake_world.VECTOR, 1, 0, GAUSSIAN))
    assert not fits(Trial(fake_world.VECTOR, 1, 0, fake_world.Dusk(1.0, 1.0, 0, 3)))


def test_what_was_not_mentioned_in_one_episode_but_in_others_is_zero() -> None:
    assert complete([{"cost": 2.0}, {}, {"success": 1.0}]) == [
        {"cost": 2.0, "success": 0.0}, {"cost": 0.0, "success": 0.0}, {"cost": 0.0, "success": 1.0},
    ]  # fmt: skip
