"""Imagination, lambda-returns and losses of actor and critic against plain computations."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import norm

from tests import tiny
from wiser.train.behaviour import (
    Imagined,
    ReturnScale,
    action_logprob,
    actor_critic_loss,
    imagine,
    replay_value_loss,
)
from wiser.train.config import TrainConfig
from wiser.worldmodel.dreamer import DreamerV3
from wiser.worldmodel.dreamer.heads import Actor, features
from wiser.worldmodel.foresight import lambda_returns
from wiser.worldmodel.protocol import Actions, Belief

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


HALVES = TrainConfig(discount_horizon=2.0, return_lambda=0.5, replay_value=0.3)  # discount and lambda are 1/2


class Watched:
    """A critic that notes its targets; its loss is whatever number the features hold."""

    def __init__(self) -> None:
        self.targets: list[torch.Tensor] = []

    def mean(self, x: torch.Tensor) -> torch.Tensor:
        return torch.full(x.shape[:-1], 8.0)

    def loss(self, x: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        self.targets = list(targets)
        return x[..., 0]


# Steps 0 to 2 are one episode, 3 to 5 the next; the reward on arriving at step t is t, every imagined return is 8.
# By hand, from the back: R4 = 5 + 1/2 (4 + 4) = 9, R3 = 4 + 1/2 (4 + R4 / 2) = 8.25; over the border nothing counts;
# R1 = 2 if step 2 is death, else 2 + 8/2 = 6, the critic's word for what a time limit cut off; R0 = 1 + 1/2 (4 + R1/2).
# A head that learns the discount changes nothing here: what really happened needs no head.
@pytest.mark.parametrize("learnt", [False, True])
@pytest.mark.parametrize(("dies", "expected"), [(True, [3.5, 2.0, 8.25, 9.0]), (False, [4.5, 6.0, 8.25, 9.0])])
def test_values_of_real_experience_stop_at_death_and_at_the_border_of_an_episode(dies, expected, learnt) -> None:
    critic, config = Watched(), replace(HALVES, continue_discount=learnt)
    reward, last = torch.arange(6.0)[None], torch.tensor([[0.0, 0, 1, 0, 0, 0]])
    proceed = torch.tensor([[1.0, 1, 0 if dies else 1, 1, 1, 1]])
    x = torch.tensor([1.0, 10, 100, 1000, 10_000, 100_000]).view(1, 6, 1)
    loss = replay_value_loss(config, critic, Watched(), x, reward, proceed, last, torch.full((1, 6), 8.0))
    returns, slow = critic.targets
    assert returns[0, [0, 1, 3, 4]].tolist() == expected
    assert slow.tolist() == [[8.0] * 5], "the slow critic's own prediction, with equal weight"
    assert float(loss) == pytest.approx(0.3 * (1 + 10 + 1000 + 10_000) / 5), "not the step before the border"


@pytest.mark.parametrize("learnt", [False, True], ids=["discount apart", "discount learnt"])
def test_actor_and_critic_terms_by_hand(learnt: bool) -> None:
    """Every factor of both terms, one roll-out and one step at a time.

    What the continue head says is multiplied by the discount of 0.8, unless it has learnt to say that itself: then its
    word is the discount, and a start that is alive continues as it would say, 0.8.
    """
    model = tiny.model(SENSORS)
    config = TrainConfig(discount_horizon=5.0, return_lambda=0.7, entropy=0.2, continue_discount=learnt)
    discount, begun = (1.0, 0.8) if learnt else (0.8, 1.0)
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(4, 4, 56))).float()
    action = torch.eye(5)[torch.from_numpy(rng.integers(0, 5, (4, 4)))]
    reward, proceed = rng.normal(0, 30, (4, 4)), rng.random((4, 4))
    alive = np.array([1.0, 0.0, 1.0, 1.0])
    imagined = Imagined(x, action, torch.tensor(reward).float(), torch.tensor(proceed).float())
    slow = DreamerV3(tiny.config(SENSORS)).critic
    terms, starts = actor_critic_loss(
        config, model, slow, ReturnScale(decay=0.0), imagined, torch.tensor(alive).float()
    )

    value = model.critic.mean(x).double().numpy()
    returns = np.zeros((4, 4))
    returns[:, 3] = value[:, 3]
    for t in (2, 1, 0):
        ahead = 0.3 * value[:, t + 1] + 0.7 * returns[:, t + 1]
        returns[:, t] = reward[:, t + 1] + discount * proceed[:, t + 1] * ahead
    returns = returns[:, :3]
    np.testing.assert_allclose(starts, returns[:, 0], rtol=1e-4)
    low, high = np.percentile(returns, [5, 95])
    assert high - low > 1
    chances = model.actor.logprobs(x).double().exp().numpy()
    actor, critic = [], []
    for row, t in np.ndindex(4, 3):
        weight = begun * alive[row] * np.prod(discount * proceed[row, 1 : t + 1])
        chosen = chances[row, t] @ action[row, t].numpy()
        disorder = -(chances[row, t] * np.log(chances[row, t])).sum()
        merit = (returns[row, t] - value[row, t]) / (high - low)
        actor.append(-weight * (np.log(chosen) * merit + 0.2 * disorder))
        logits = model.critic(x[row, t]).double().numpy()
        logprobs = logits - np.log(np.exp(logits).sum())
        bins = model.critic.bins.double().numpy()
        above = np.searchsorted(bins, returns[row, t])
        share = (returns[row, t] - bins[above - 1]) / (bins[above] - bins[above - 1])
        own = (1 - share) * logprobs[above - 1] + share * logprobs[above]
        critic.append(-weight * (own + logprobs[127]))  # the slow critic is new and says 0, the bin in the middle
    assert float(terms["actor"]) == pytest.approx(np.mean(actor), rel=1e-3)
    assert float(terms["critic"]) == pytest.approx(np.mean(critic), rel=1e-3)


# Two steps, rewards 1 and 2 on arrival, every value 8, discount and lambda 1/2, the head says 1/2 and then 1/4.
# Learnt: R1 = 2 + 1/4 8 = 4 and R0 = 1 + 1/2 (4 + R1 / 2) = 4; weights 1/2 (alive, one discount) and 1/2 1/2.
# Apart:  R1 = 2 + 1/8 8 = 3 and R0 = 1 + 1/4 (4 + R1 / 2) = 2.375; weights 1 and 1/4.
@pytest.mark.parametrize(("learnt", "returns", "weights"), [
    (True, [4.0, 4.0], [0.5, 0.25]), (False, [2.375, 3.0], [1.0, 0.25]),
])  # fmt: skip
def test_a_learnt_discount_takes_the_place_of_the_fixed_one(learnt, returns, weights) -> None:
    critic, policy = Watched(), tiny.model(SENSORS).actor
    model = SimpleNamespace(actions=tiny.DISCRETE, actor=policy, critic=critic)
    config = TrainConfig(discount_horizon=2.0, return_lambda=0.5, continue_discount=learnt)
    x = torch.zeros(1, 3, 56)
    x[0, :, 0] = torch.tensor([1.0, 10.0, 100.0])
    said = torch.tensor([[1.0, 0.5, 0.25]])
    imagined = Imagined(x, torch.eye(5)[torch.tensor([[0, 1, 2]])], torch.tensor([[0.0, 1.0, 2.0]]), said)
    terms, starts = actor_critic_loss(config, model, Watched(), ReturnScale(), imagined, torch.ones(1))
    assert critic.targets[0][:, 0].tolist() == returns
    assert starts.tolist() == returns[:1]
    assert float(terms["critic"]) == pytest.approx((1 * weights[0] + 10 * weights[1]) / 2)


def test_both_ways_to_discount_agree_when_the_head_is_right() -> None:
    """A head that says c, or c times the discount: the same returns, and all weights by the same factor."""
    model = tiny.model(SENSORS)
    imagined = imagine(model, belief(model, 8), 5, torch.Generator().manual_seed(0))
    results = []
    for learnt in (False, True):
        config = TrainConfig(discount_horizon=4.0, continue_discount=learnt)
        said = config.continues(imagined.proceed)
        results.append(
            actor_critic_loss(
                config, model, model.critic, ReturnScale(), imagined._replace(proceed=said), torch.ones(8)
            )
        )
    (apart, returns), (together, same_returns) = results
    torch.testing.assert_close(same_returns, returns)
    for name, value in apart.items():
        torch.testing.assert_close(together[name], 0.75 * value)


MEAN, STD, OFF = 0.95, 0.2, 0.3


def constant_policy() -> Actor:
    """A policy of one number with that mean and spread, whatever it sees."""
    actor = Actor(tiny.config(SENSORS, Actions(1, False, (-1.0,), (1.0,))))
    with torch.no_grad():
        actor.out.weight.zero_()
        spread = (STD - 0.1) / 0.9
        actor.out.bias.copy_(torch.tensor([np.arctanh(MEAN), np.log(spread / (1 - spread)) - 2.0]))
    return actor


def estimated_slopes(actor: Actor, action: torch.Tensor, baseline: float) -> np.ndarray:
    """Minus the gradient of the actor's loss by the mean and the spread, where one action decides everything."""
    n = len(action)
    reward = -((action.clamp(-1, 1) - 1) ** 2)[:, 0]
    zeros = torch.zeros(n)
    imagined = Imagined(
        torch.zeros(n, 2, 56), action[:, None].expand(n, 2, 1), torch.stack([zeros, reward], 1), torch.zeros(n, 2)
    )
    critic = SimpleNamespace(mean=lambda x: torch.full(x.shape[:-1], baseline), loss=lambda x, *_: 0.0 * x[..., 0])
    model = SimpleNamespace(actions=Actions(1, False, (-1.0,), (1.0,)), actor=actor, critic=critic)
    config = TrainConfig(entropy=0.0)
    terms, _ = actor_critic_loss(config, model, critic, ReturnScale(decay=0.0), imagined, torch.ones(n))
    (by_bias,) = torch.autograd.grad(terms["actor"], actor.out.bias)
    inner = 0.9 * (STD - 0.1) / 0.9 * (1 - (STD - 0.1) / 0.9)  # d std / d output
    return -by_bias.numpy() / [1 - MEAN**2, inner]


def test_the_policy_gradient_is_that_of_what_the_environment_pays() -> None:
    """A normal policy near the bound, r = -(clip(a) - 1)^2, and a critic that is wrong by 0.3.

    With d = 1 - mean: E[r] = -E[max(1 - a, 0)^2], so that dE/dmean = 2 (d Phi(d / s) + s phi(d / s)) and
    dE/ds = -2 s Phi(d / s). A wrong baseline does not matter as long as actions are judged as they were drawn.
    """
    d = 1 - MEAN
    below, density = norm.cdf(d / STD), norm.pdf(d / STD)
    truth = np.array([2 * (d * below + STD * density), -2 * STD * below])
    payoff = -((d**2 + STD**2) * below + d * STD * density)
    actor, count = constant_policy(), 400_000
    with torch.no_grad():
        noise = torch.rand(count, 1, generator=torch.Generator().manual_seed(0))
        drawn = actor(torch.zeros(count, 56), noise)
    assert float(drawn.mean()) == pytest.approx(MEAN, abs=2e-3)
    assert float(drawn.std()) == pytest.approx(STD, abs=2e-3)
    np.testing.assert_allclose(estimated_slopes(actor, drawn, payoff + OFF), truth, atol=0.015)
    clipped = estimated_slopes(actor, drawn.clamp(-1, 1), payoff + OFF)
    assert np.abs(clipped - truth).min() > 0.1, "this test can tell"


def test_drawn_numbers_are_kept_in_imagination_and_clipped_where_they_act() -> None:
    model = tiny.model(SENSORS, tiny.CONTINUOUS)
    start = belief(model, 64)
    imagined = imagine(model, start, 3, torch.Generator().manual_seed(0))
    assert float(imagined.action.abs().max()) > 1
    noise = torch.rand(64, 2, generator=torch.Generator().manual_seed(1))
    drawn = model.actor(features(start), noise)
    assert float(drawn.abs().max()) > 1
    torch.testing.assert_close(model.act(start, noise), drawn.clamp(-1, 1))
    torch.testing.assert_close(model.gru(*start, drawn), model.gru(*start, drawn.clamp(-1, 1)))


def test_imagined_latents_and_actions_are_drawn_from_prior_and_policy() -> None:
    """Frequencies over many roll-outs from one state; reward and continuation are those of the state arrived at."""
    model = tiny.model(SENSORS)
    one = belief(model, 1)
    many = Belief(one.deter.expand(6000, -1), one.stoch.expand(6000, -1, -1))
    imagined = imagine(model, many, 1, torch.Generator().manual_seed(0))
    assert imagined.features[:, 1, 32:].unique().tolist() == [0.0, 1.0], "drawn, not averaged"
    policy = model.actor.logprobs(features(one))[0].exp()
    torch.testing.assert_close(imagined.action[:, 0].mean(0), policy, atol=0.03, rtol=0)
    for choice in (0, 3):
        chosen = imagined.action[:, 0, choice] == 1
        action = torch.eye(5)[[choice]]
        prior = model.predict(one, action, torch.zeros(1, dtype=torch.bool)).logprobs[0].exp()
        latents = imagined.features[chosen, 1, 32:].view(-1, 6, 4).mean(0)
        torch.testing.assert_close(latents, prior, atol=5 / float(chosen.sum()) ** 0.5, rtol=0)
    alive = torch.sigmoid(model.proceed(imagined.features[:, 1]))
    torch.testing.assert_close(imagined.proceed[:, 1], alive)
    assert torch.equal(imagined.proceed[:, 0], torch.ones(6000))
