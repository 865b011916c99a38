"""Actions: what the environment gets is valid, what it did is understood, and nothing wrong gets in."""

import gymnasium as gym
import numpy as np
import pytest
import torch

from tests import tiny
from wiser.guard import Guard
from wiser.guard.actions import to_environment, to_model
from wiser.worldmodel.protocol import Actions

SENSORS = (tiny.image("camera"), tiny.vector("speed"))


def test_discrete_spaces_may_start_anywhere() -> None:
    space = Actions.from_space(gym.spaces.Discrete(3, start=-1))
    one_hots = torch.eye(3)
    assert to_environment(one_hots, space).tolist() == [-1, 0, 1]
    assert torch.equal(to_model(torch.tensor([-1, 0, 1]), space), one_hots)


def test_continuous_round_trip_stays_within_bounds() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        low = rng.normal(0, 10, 3).astype(np.float32)
        high = low + rng.uniform(0, 20, 3).astype(np.float32)
        space = Actions(3, False, tuple(low.tolist()), tuple(high.tolist()))
        action = torch.from_numpy(rng.uniform(-1, 1, (5, 3)).astype(np.float32))
        action[0], action[1] = -1.0, 1.0
        sent = to_environment(action, space)
        assert (sent.numpy() >= low).all()
        assert (sent.numpy() <= high).all()
        torch.testing.assert_close(to_model(sent, space), action, atol=1e-3, rtol=0)


def test_what_lies_beyond_the_bounds_is_sent_as_the_bound() -> None:
    space = Actions(2, False, (-3.0, 0.0), (3.0, 0.5))
    sent = to_environment(torch.tensor([[-1.7, 1.2], [1.01, -9.0], [0.5, 0.0]]), space)
    assert sent.tolist() == [[-3.0, 0.5], [3.0, 0.0], [1.5, 0.25]]


def test_a_dimension_without_width_is_harmless() -> None:
    model = tiny.model(SENSORS, Actions(2, False, (-1.0, 0.0), (1.0, 0.0)))
    guard = Guard(model, rows=3, blind_limit=0, fallback=lambda verdict: [0.5, 0.0])
    for _ in range(3):
        action, _ = guard.act({})
        assert np.array_equal(action, [[0.5, 0.0]] * 3)
        assert torch.isfinite(guard.belief.deter).all()


def test_the_prediction_follows_what_was_executed() -> None:
    model = tiny.model(SENSORS)
    rng = np.random.default_rng(0)
    first, second = tiny.batch(SENSORS, 2, rng), tiny.batch(SENSORS, 2, rng)
    guard = Guard(model, "none", rows=2)
    guard.act(first)
    guard.executed(np.array([4, 1]))
    expected = model.predict(guard.belief, torch.eye(5)[[4, 1]], torch.zeros(2, dtype=torch.bool))
    guard.act(second)
    torch.testing.assert_close(guard.belief.deter, expected.deter)


@pytest.mark.parametrize("action", [[5, 0], [-1, 0], [[1], [2]], [1, 2, 3]])
def test_impossible_discrete_actions_are_refused(action: list[int]) -> None:
    guard = Guard(tiny.model(SENSORS), rows=2)
    with pytest.raises(ValueError, match="actions"):
        guard.executed(np.array(action))


@pytest.mark.parametrize("action", [[np.nan, 0.0], [0.0], [[0.0, 0.0]]])
def test_impossible_continuous_actions_are_refused(action: list[float]) -> None:
    guard = Guard(tiny.model(SENSORS, tiny.CONTINUOUS))
    with pytest.raises(ValueError, match="finite numbers"):
        guard.executed(action)


@pytest.mark.parametrize("rows", [1, [0, 1], [True], [True, False, True]])
def test_flags_are_bools_one_per_row(rows) -> None:
    with pytest.raises(ValueError, match="one per row"):
        Guard(tiny.model(SENSORS), rows=2).reset(rows)


def test_flags_may_be_torch_or_numpy() -> None:
    guard = Guard(tiny.model(SENSORS), rows=2)
    obs = tiny.batch(SENSORS, 2, np.random.default_rng(0))
    for flags in (True, [True, False], np.array([True, False]), torch.tensor([True, False])):
        guard.act(obs, flags)


def test_a_reset_clears_even_a_belief_that_is_not_finite() -> None:
    model = tiny.model(SENSORS)
    obs = tiny.observation(SENSORS, np.random.default_rng(0))
    clean = Guard(model)
    clean.act(obs)
    guard = Guard(model)
    guard.act(obs)
    guard._belief.deter[:] = torch.nan
    guard.reset()
    guard.act(obs)
    assert torch.equal(guard.belief.deter, clean.belief.deter)


def test_a_belief_that_is_not_finite_restarts_its_row_and_says_so() -> None:
    model = tiny.model(SENSORS)
    obs = tiny.batch(SENSORS, 2, np.random.default_rng(0))
    guard = Guard(model, rows=2)
    guard.act(obs)
    guard._belief.deter[1] = torch.inf
    _, verdict = guard.act(obs)
    assert torch.isfinite(guard.belief.deter).all()
    assert verdict.reset.tolist() == [False, True]


def test_an_episode_start_is_not_lost_when_the_step_fails() -> None:
    model = tiny.model(SENSORS)
    obs = tiny.observation(SENSORS, np.random.default_rng(0))
    guard = Guard(model)
    guard.act(obs)

    class Broken:
        def rule(self, *args: object) -> None:
            raise RuntimeError("a judge of the user's")

    good, guard.sitting = guard.sitting, Broken()
    with pytest.raises(RuntimeError):
        guard.act(obs, first=True)
    guard.sitting = good
    guard.act(obs)
    again = Guard(model)
    again.act(obs)
    assert torch.equal(guard.belief.deter, again.belief.deter)
