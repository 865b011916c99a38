"""Signals add up over episodes as the domain says; what an expert helped with is not the policy's."""

import json

import numpy as np
import pytest

from wiser.envs import domain
from wiser.envs.domain import Domain, Measure, Task
from wiser.train.returns import Returns

ENV = "tests/Measured-v0"
SIGNALS = ("reward", "cost", "alarm", "level")
# (reward, cost, alarm, level, done) of one row: an episode of three steps, one of two, and the first of another
STORY = [(1, 2, 0, 5, False), (2, 0, 1, 7, False), (4, 1, 0, 6, True), (8, 3, 0, 2, False), (16, 3, 0, 9, True),
         (32, 1, 1, 1, False)]  # fmt: skip


@pytest.fixture(autouse=True)
def measured(monkeypatch) -> None:
    measures = {"alarm": Measure("any", "less", "alarms"), "level": Measure("last", "more", "level")}
    monkeypatch.setattr(domain, "_DOMAINS", [Domain((Task(ENV, "m", "m"),), measures=measures)])


def play(returns: Returns, story: list, guided: bool = False) -> None:
    for *values, done in story:
        signals = {name: np.array([value, 0.0], np.float32) for name, value in zip(SIGNALS, values, strict=True)}
        returns.add(signals, np.array([guided, False]), np.array([done, False]))


def test_each_signal_adds_up_as_its_measure_says_and_by_default_is_summed() -> None:
    returns = Returns(ENV, SIGNALS, 2)
    assert set(returns.means().values()) == {None}
    play(returns, STORY)
    assert returns.finished == {"reward": [7.0, 24.0], "cost": [3.0, 6.0], "alarm": [1.0, 0.0], "level": [6.0, 9.0]}
    assert returns.means() == {"policy_score": 15.5, "policy_cost": 4.5, "policy_alarm": 0.5, "policy_level": 7.5}


def test_an_episode_helped_once_is_left_out_and_the_next_counts() -> None:
    returns = Returns(ENV, SIGNALS, 2)
    play(returns, STORY[:1], guided=True)
    play(returns, STORY[1:])
    assert returns.finished["reward"] == [24.0]


def test_only_the_last_twenty_count() -> None:
    returns = Returns(ENV, SIGNALS, 2)
    play(returns, [(number, 0, 0, 0, True) for number in range(30)])
    assert returns.finished["reward"] == list(range(10, 30))


def test_it_goes_on_from_its_state() -> None:
    whole, first, again = (Returns(ENV, SIGNALS, 2) for _ in range(3))
    play(whole, STORY)
    play(first, STORY[:4])
    again.restore(json.loads(json.dumps(first.state())))
    play(again, STORY[4:])
    assert again.finished == whole.finished
    assert again.state() == whole.state()
