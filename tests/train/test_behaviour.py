"""Imagination, lambda-returns and losses of actor and critic against plain computations."""

import numpy as np
import pytest
import torch

from tests import tiny
from wiser.train.behaviour import ReturnScale, action_logprob, actor_critic_loss, imagine, lambda_returns
from wiser.train.config import TrainConfig
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import features
from wiser.worldmodel.protocol import Belief

SENSORS = (tiny.image("camera"),)
CONFIG = TrainConfig()
DISCOUNT, LAMBDA = 1 - 1 / 333, 0.95


def belief(model, rows: int) -> Belief:
    generator = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 4, (rows, 6), generator=generator)
    return Belief(torch.randn(rows, 32, generator=generator), torch.nn.functional.one_hot(codes, 4).float())


def test_lambda_returns_against_their_definition() -> None:
    """R_t = r_{t+1} + live_{t+1} ((1 - mix_{t+1}) v_{t+1} + mix_{t+1} R_{t+1}), by recursion on scalars."""
    rng = np.random.default_rng(0)
    reward, value = rng.normal(size=(2, 4, 7))
    live, mix = rng.random((2, 4, 7)).round(1)

    def result(row: int, t: int) -> float:
        if t == 6:
            return value[row, 6]
        blend = (1 - mix[row, t + 1]) * value[row, t + 1] + mix[row, t + 1] * result(row, t + 1)
        return reward[row, t + 1] + live[row, t + 1] * blend

    expected = [[result(row, t) for t in range(6)] for row in range(4)]
    found = lambda_returns(*map(torch.tensor, (reward, live, mix, value)))
    np.testing.assert_allclose(found, expected)


def test_lambda_returns_are_the_mixture_of_n_step_returns() -> None:
    """R = (1 - lambda) sum of lambda^(n-1) G_n + lambda^(N-1) G_N, where G_n bootstraps after n rewards."""
    rng = np.random.default_rng(1)
    reward, value = rng.normal(size=(2, 3, 7))
    proceed = rng.random((3, 7))
    expected = np.zeros((3, 6))
    for row, t in np.ndindex(3, 6):
        steps = 6 - t
        for n in range(1, steps + 1):
            weight = LAMBDA ** (n - 1) * (1 if n == steps else 1 - LAMBDA)
            survival = [np.prod(DISCOUNT * proceed[row, t + 1 : t + k]) for k in range(1, n + 2)]
            rewards = sum(survival[k - 1] * reward[row, t + k] for k in range(1, n + 1))
            expected[row, t] += weight * (rewards + survival[n] * value[row, t + n])
    found = lambda_returns(torch.tensor(reward), torch.tensor(DISCOUNT * proceed), LAMBDA, torch.tensor(value))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_imagination_is_the_model_stepping_on_its_own_prior() -> None:
    model = tiny.model(SENSORS)
    start = belief(model, 3)
    imagined = imagine(model, start, 15, torch.Generator().manual_seed(5))
    assert imagined.features.shape == (3, 16, 32 + 24)
    torch.testing.assert_close(imagined.features[:, 0], features(start))
    for t in range(15):
        deter, stoch = imagined.features[:, t].split((32, 24), -1)
        prior = model.predict(
            Belief(deter, stoch.view(3, 6, 4)), imagined.action[:, t], torch.zeros(3, dtype=torch.bool)
        )
        torch.testing.assert_close(imagined.features[:, t + 1, :32], prior.deter)
    assert torch.equal(imagined.action.sum(-1), torch.ones(3, 16))
    torch.testing.assert_close(imagined.reward, model.reward.mean(imagined.features))


def test_return_scale_is_the_percentile_range_with_a_floor() -> None:
    scale = ReturnScale(decay=0.0)
    assert float(scale(torch.arange(101.0))) == pytest.approx(90.0)
    assert float(scale(torch.full((10,), 3.0))) == 1.0
    slow = ReturnScale(decay=0.99)
    assert float(slow(torch.arange(0.0, 1010.0, 10.0))) == pytest.approx(9.0, rel=1e-4), "it starts from zero"


def test_good_actions_become_more_likely_and_only_actor_and_critic_learn() -> None:
    model = DreamerV3(tiny.config(SENSORS))
    imagined = imagine(model, belief(model, 64), 15, torch.Generator().manual_seed(0))
    lucky = imagined.action[..., 2]  # pretend that action 2 pays: the reward arrives with the next state
    reward = torch.cat([torch.zeros(64, 1), lucky[:, :-1]], 1)
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    before = action_logprob(model, imagined.features, torch.eye(5)[2].expand(64, 16, 5))[0].mean()
    for _ in range(30):
        terms, _ = actor_critic_loss(
            CONFIG, model, model.critic, ReturnScale(), imagined._replace(reward=reward), torch.ones(64)
        )
        optimiser.zero_grad()
        sum(terms.values()).backward()
        optimiser.step()
    learning = {name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None}
    assert learning == {"actor", "critic"}
    after = action_logprob(model, imagined.features, torch.eye(5)[2].expand(64, 16, 5))[0].mean()
    assert after > before + 0.3


def test_dead_starts_do_not_count() -> None:
    model = tiny.model(SENSORS)
    imagined = imagine(model, belief(model, 4), 15, torch.Generator().manual_seed(0))
    terms, _ = actor_critic_loss(CONFIG, model, model.critic, ReturnScale(), imagined, torch.zeros(4))
    assert float(terms["actor"]) == 0.0
    assert float(terms["critic"]) == 0.0


def test_continuous_log_probability() -> None:
    model = tiny.model(SENSORS, tiny.CONTINUOUS)
    x = features(belief(model, 3))
    action = torch.rand(3, 2) * 2 - 1
    logprob, entropy = action_logprob(model, x, action)
    mean, std = model.actor.normal(x)
    by_hand = (-0.5 * ((action - mean) / std) ** 2 - std.log() - 0.5 * np.log(2 * np.pi)).sum(-1)
    torch.testing.assert_close(logprob, by_hand)
    torch.testing.assert_close(entropy, (0.5 + 0.5 * np.log(2 * np.pi) + std.log()).sum(-1))
    assert ((std >= 0.1) & (std <= 1.0)).all()
    untrained = DreamerV3(tiny.config(SENSORS, tiny.CONTINUOUS)).actor.normal(x).std
    assert untrained.mean().item() == pytest.approx(0.1 + 0.9 / (1 + np.exp(-2)), abs=0.02)
