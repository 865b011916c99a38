"""The safe objective: what exceeding a limit costs, what actor and critics learn of it, what travels with an agent."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

import wiser
from tests import fake_world, tiny
from tests.train.lanes import LANES
from tests.train.test_learner import CONFIG, Setup, copied
from wiser.guard import Guard
from wiser.train import log
from wiser.train.behaviour import Imagined
from wiser.train.config import TrainConfig, stack
from wiser.train.loop import Run, build_model, train
from wiser.train.objectives.ordinary import Dreams
from wiser.train.objectives.safe import Price, Safe
from wiser.train.parts import build
from wiser.train.score import evaluate
from wiser.train.warmstart import carry_over
from wiser.worldmodel.dreamer import SIZES

SENSORS = (tiny.vector("speed"),)
COSTLY = replace(
    CONFIG, env=fake_world.SINGLE, env_options={"costly": True}, objective="safe", cloning=0.0, cloning_floor=0.0
)


def priced(multiplier: float, penalty: float) -> Price:
    price = Price(penalty)
    price.multiplier.fill_(multiplier)
    return price


# By hand. The multiplier moves to l + c g; if that is above 0 the price is l g + c/2 g^2 and its slope l + c g, else it
# is -l^2 / (2 c), and flat.
@pytest.mark.parametrize(("multiplier", "penalty", "excess", "psi", "moved"), [
    (1e-6, 5e-9, 100.0, 1.25e-4, 1.5e-6),  # as published, at the first update
    (0.5, 0.1, 2.0, 1.2, 0.7),
    (0.5, 0.1, -2.0, -0.8, 0.3),
    (0.0, 0.1, 3.0, 0.45, 0.3),
    (0.0, 0.1, -3.0, 0.0, 0.0),
    (0.1, 0.1, -2.0, -0.05, 0.0),
    (0.2, 0.1, -2.0, -0.2, 0.0),  # the border: both formulas agree
    (0.3, 0.1, -40.0, -0.45, 0.0),
    (2.0, 1.0, 0.0, 0.0, 2.0),
])  # fmt: skip
def test_the_price_of_an_excess_its_slope_and_where_the_multiplier_goes(
    multiplier: float, penalty: float, excess: float, psi: float, moved: float
) -> None:
    price, given = priced(multiplier, penalty), torch.tensor(excess, requires_grad=True)
    found = price(given)
    found.backward()
    assert found.dtype == torch.float32
    assert float(found.detach()) == pytest.approx(psi, rel=1e-5, abs=1e-12)
    assert float(given.grad) == pytest.approx(moved, rel=1e-5, abs=1e-12)
    assert float(price.multiplier) == pytest.approx(moved, rel=1e-9, abs=1e-15)
    assert float(price.penalty) == pytest.approx(min(1.0, penalty * 1.00001), rel=1e-12)


def test_the_price_over_many_updates() -> None:
    rng, price, multiplier, penalty = np.random.default_rng(0), Price(1e-3), 1e-6, 1e-3
    for _ in range(300):
        excess = float(np.float32(rng.normal(0, 30)))
        psi = float(price(torch.tensor(excess)))
        after = multiplier + penalty * excess
        expected = multiplier * excess + penalty / 2 * excess**2 if after > 0 else -(multiplier**2) / 2 / penalty
        assert psi == pytest.approx(expected, rel=1e-5, abs=1e-9)
        multiplier, penalty = max(0.0, after), max(penalty, min(1.0, penalty * (1 + 1e-5)))
    assert float(price.multiplier) == pytest.approx(multiplier, rel=1e-9)
    assert float(price.penalty) == pytest.approx(penalty, rel=1e-9)


CHOICES, STEPS, DISCOUNT, LAMBDA = 5, 2, 0.8, 0.7


class Bench:
    """Every course that two choices of five can take from one living and from one dead state, each as likely."""

    def __init__(self, limit: float = 0.0) -> None:
        config = TrainConfig(
            discount_horizon=5.0, return_lambda=LAMBDA, cost_limit=limit, penalty=0.1, imagine_steps=STEPS
        )
        self.model = tiny.model(SENSORS, costs=True).requires_grad_(True)
        with torch.no_grad():
            for weight in (self.model.actor.out.weight, self.model.actor.out.bias):
                weight.zero_()  # all choices alike
        self.safe = build(Safe, config, self.model)
        with torch.no_grad():
            for weight in self.safe.cost_critic.parameters():
                weight += 0.2 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))
            for head in (self.model.cost, self.safe.cost_critic):
                head.bins.copy_(torch.linspace(-30, 30, 255))  # random heads that say ordinary numbers
        rng = np.random.default_rng(0)
        places = {(): rng.normal(size=56)}  # what a state looks like follows from the choices before it
        places |= {(a,): rng.normal(size=56) for a in range(CHOICES)}
        places |= {(a, b): rng.normal(size=56) for a, b in product(range(CHOICES), repeat=2)}
        self.courses = list(product(range(CHOICES), repeat=STEPS))
        x = torch.tensor(np.array([[places[course[:t]] for t in range(STEPS + 1)] for course in self.courses])).float()
        action = torch.eye(CHOICES)[torch.tensor([[*course, 0] for course in self.courses])]
        proceed = torch.tensor(rng.uniform(0.5, 1.0, (len(self.courses), STEPS + 1))).float()
        self.imagined = Imagined(*(torch.cat([part, part]) for part in (x, action, 0 * proceed, proceed)))
        alive = torch.cat([torch.ones(25), torch.zeros(25)]).view(25, 2)  # (B', T)
        seen, paid = self.imagined.features[:, 0].view(25, 2, 56), torch.zeros(25, 2)
        self.dreams = Dreams(self.imagined, seen, {"reward": paid, "cost": paid}, alive, paid)

    def returns(self) -> np.ndarray:
        """Cost returns (25, H) of the living courses, one at a time."""
        cost, value = (
            head.mean(self.imagined.features).detach().double().numpy()
            for head in (self.model.cost, self.safe.cost_critic)
        )
        proceed, found = self.imagined.proceed.double().numpy(), np.zeros((25, STEPS))
        for row in range(25):
            after = value[row, STEPS]
            for t in reversed(range(STEPS)):
                ahead = (1 - LAMBDA) * value[row, t + 1] + LAMBDA * after
                after = found[row, t] = cost[row, t + 1] + DISCOUNT * proceed[row, t + 1] * ahead
        return found

    def expected(self) -> Tensor:
        """What the returns of a roll-out add up to in the mean, each a function of the policy's choice at its state."""
        chances = self.model.actor.logprobs(self.imagined.features[:25, :STEPS]).exp()  # (25, H, A)
        fixed, returns, total = chances.detach(), self.returns(), torch.zeros(())
        for row, course in enumerate(self.courses):
            for t, choice in enumerate(course):
                others = np.prod([float(fixed[row, k, course[k]]) for k in range(STEPS) if k != t])
                total = total + chances[row, t, choice] * others * returns[row, t]
        return total / 2  # the other half is dead


@pytest.mark.parametrize(("multiplier", "limit"), [(0.3, 0.0), (0.3, 2.0), (0.05, 200.0)])
def test_the_actor_pays_for_the_expected_cost_returns_above_the_limit(multiplier: float, limit: float) -> None:
    """Value and gradient of the penalty against all courses there are, also where the limit is far away: no slope."""
    bench = Bench(limit)
    bench.safe.price.multiplier.fill_(multiplier)
    weights = list(bench.model.actor.parameters())
    total = bench.expected()
    slopes = torch.autograd.grad(total, weights)
    penalty = bench.safe.behave(bench.model, bench.dreams)["penalty"]
    found = torch.autograd.grad(penalty, weights)
    assert float(bench.safe.figures()["cost_return"]) == pytest.approx(float(total.detach()), rel=1e-5)
    price = max(0.0, multiplier + 0.1 * (float(total.detach()) - limit))
    assert (price == 0.0) == (limit == 200.0)
    assert max(float(slope.abs().max()) for slope in slopes) > 1e-3
    for one, other in zip(found, slopes, strict=True):
        torch.testing.assert_close(one, price * other, rtol=2e-4, atol=1e-6)
    assert float(penalty.detach()) == pytest.approx(float(priced(multiplier, 0.1)(total.detach() - limit)), rel=1e-4)
    assert float(bench.safe.figures()["multiplier"]) == pytest.approx(price, rel=1e-5)


def test_every_term_teaches_what_it_is_for() -> None:
    """The penalty the actor, the critics themselves, and the cost of real steps head and world model."""
    setup = Setup(COSTLY)
    model, safe = setup.model, setup.learner.objective
    with torch.no_grad():
        for weight in model.cost.parameters():
            weight += 0.1  # a new head says zero whatever it sees
    observed, *_ = setup.learner._observe(setup.replay.sample(3, 6, setup.rng), torch.zeros(3, dtype=torch.bool))
    terms = safe.terms(model, observed, torch.Generator().manual_seed(0))
    names = [f"model.{name}" for name, _ in model.named_parameters()]
    names += [f"safe.{name}" for name, _ in safe.named_parameters()]
    weights = [*model.parameters(), *safe.parameters()]
    taught = {}
    for term, value in terms.items():
        slopes = torch.autograd.grad(
            value, [weight for weight in weights if weight.requires_grad], retain_graph=True, allow_unused=True
        )
        trained = [name for name, weight in zip(names, weights, strict=True) if weight.requires_grad]
        taught[term] = {".".join(n.split(".")[:2]) for n, s in zip(trained, slopes, strict=True) if s is not None}
    filter_ = {"model.fusion", "model.gru", "model.posterior"}
    assert taught["penalty"] == {"model.actor"}
    assert taught["cost_critic"] == {"safe.cost_critic"}
    assert taught["critic"] == {"model.critic"}
    assert taught["replay_cost_critic"] == {"safe.cost_critic", *filter_}
    assert taught["cost"] == {"model.cost", *filter_}


def test_steps_that_cost_weigh_more_in_the_loss_of_the_cost_head() -> None:
    setup = Setup(replace(COSTLY, cost_weight=4.0))
    observed, *_ = setup.learner._observe(setup.replay.sample(3, 6, setup.rng), torch.zeros(3, dtype=torch.bool))
    cost = torch.tensor([[0.0, 0.99, 1.0, 2.0, 0.0, 0.0]] * 3)
    observed.batch.signals["cost"][:] = cost
    found = setup.learner.objective.terms(setup.model, observed, torch.Generator().manual_seed(0))["cost"]
    by_step = setup.model.cost.loss(observed.features, cost)
    assert float(found) == pytest.approx(float((by_step * torch.tensor([1.0, 1, 4, 4, 1, 1])).mean()), rel=1e-5)


def test_rewards_and_costs_are_kept_apart() -> None:
    """Another reward changes what is learnt of the reward alone, another cost what is learnt of the cost."""
    setup = Setup(COSTLY)
    with torch.no_grad():
        for head in (setup.model.cost, setup.model.critic, setup.learner.objective.cost_critic):
            head.logits.weight.normal_(generator=torch.Generator().manual_seed(0))
    observed, *_ = setup.learner._observe(setup.replay.sample(3, 6, setup.rng), torch.zeros(3, dtype=torch.bool))

    def terms() -> dict[str, float]:
        found = setup.learner.objective.terms(setup.model, observed, torch.Generator().manual_seed(0))
        return {name: float(value.detach()) for name, value in found.items() if "critic" in name or name == "cost"}

    before = terms()
    observed.batch.signals["reward"].add_(1.0)
    other_reward = terms()
    assert {name for name in before if before[name] != other_reward[name]} == {"replay_critic"}
    observed.batch.signals["cost"].add_(1.0)
    other_cost = terms()
    assert {name for name in before if other_cost[name] != other_reward[name]} == {"cost", "replay_cost_critic"}


def test_the_slow_cost_critic_follows_and_all_of_it_is_logged() -> None:
    setup = Setup(COSTLY)
    safe = setup.learner.objective
    before = copied(safe)
    terms = setup.update()
    after = copied(safe)
    fast, slow = "cost_critic.logits.weight", "slow_cost_critic.logits.weight"
    assert not torch.equal(after[fast], before[fast])
    torch.testing.assert_close(after[slow], torch.lerp(before[slow], after[fast], setup.learner.config.slow_rate))
    assert {"cost", "cost_critic", "replay_cost_critic", "penalty", "cost_return", "multiplier"} <= set(terms)
    excess = float(terms["cost_return"]) - setup.learner.config.cost_limit
    assert float(terms["multiplier"]) == pytest.approx(max(0.0, 1e-6 + 5e-9 * excess), rel=1e-6)


def test_what_is_only_told_is_not_descended(monkeypatch) -> None:
    setup, descended = Setup(COSTLY), []
    backward = Tensor.backward
    monkeypatch.setattr(Tensor, "backward", lambda loss: descended.append(loss.item()) or backward(loss))
    terms = setup.update()
    scales = {"representation": 0.1, "cost_return": 0.0, "multiplier": 0.0}
    weighted = sum(scales.get(name, 1.0) * float(value) for name, value in terms.items())
    assert descended == [pytest.approx(weighted, rel=1e-5)]


SHORT = TrainConfig(
    env=fake_world.SINGLE, env_options={"costly": True}, size="nano", objective="safe", rows=2, batch=2, length=4,
    prefill=5, capacity=400, updates=6, segment=6, life=100, warmup=0, imagine_steps=3, evaluate_every=100,
    evaluate_episodes=1, log_every=1, threads=1, penalty=1e-3, cost_limit=0.0,
)  # fmt: skip


def test_a_run_resumes_exactly(tmp_path) -> None:
    whole = Run(SHORT, tmp_path / "whole")
    whole.segment(lambda line: None)
    for _ in range(3):
        part = Run(replace(SHORT, segment=2), tmp_path / "parts")
        part.segment(lambda line: None)
        part.save()
        part.close()
    assert whole.update == part.update == 6
    for name, module in whole.learner.modules.items():
        found = part.learner.modules[name].state_dict()
        assert found.keys() == module.state_dict().keys()
        for key, value in module.state_dict().items():
            assert torch.equal(value, found[key]), f"{name}.{key}"
    again = Run(replace(SHORT, segment=2), tmp_path / "parts")
    price = again.learner.objective.price
    assert price.multiplier.dtype == torch.float64
    assert float(price.multiplier) == float(whole.learner.objective.price.multiplier) > 1e-6
    assert float(price.penalty) == pytest.approx(1e-3 * 1.00001**6, rel=1e-12)
    whole.close()
    again.close()


def test_the_cost_head_travels_with_the_agent(tmp_path) -> None:
    train(replace(SHORT, updates=2, segment=2), tmp_path, lambda line: None)
    agent = wiser.load(tmp_path / "model")
    assert agent.config.costs
    x = torch.randn(3, agent.config.deter + agent.config.stoch * agent.config.classes)
    half = wiser.load(wiser.save(agent, tmp_path / "half", half=True))
    torch.testing.assert_close(half.cost.mean(x), agent.cost.mean(x), atol=1e-2, rtol=1e-2)
    assert agent.cost.logits.weight.any(), "it has learnt something"
    Guard(agent).act(tiny.observation(agent.sensors, np.random.default_rng(0)))
    said = log.read(tmp_path)[0]
    assert {"policy_cost", "cost_return", "multiplier", "penalty"} <= set(said)
    assert all(np.isfinite(value) for value in said.values() if isinstance(value, float))


def test_ordinary_agents_are_as_they_were() -> None:
    """No cost head, and the same weights from the same seed as an agent has that foresees costs."""
    plain, costly = (build_model(replace(SHORT, objective=name)) for name in ("ordinary", "safe"))
    assert plain.cost is None
    weights = costly.state_dict()
    assert {name.split(".")[0] for name in weights.keys() - plain.state_dict().keys()} == {"cost"}
    assert all(torch.equal(value, weights[name]) for name, value in plain.state_dict().items())
    with pytest.raises(ValueError, match=r"DreamerConfig.costs=True."):
        Safe(SHORT, plain).behave(plain, Bench().dreams)


def test_a_safe_agent_starts_from_one_that_knows_of_no_cost() -> None:
    source, model = tiny.model(SENSORS, seed=1), tiny.model(SENSORS, seed=2, costs=True)
    before = model.cost.layers[0].weight.clone()
    carry_over(model, source)
    assert torch.equal(model.cost.layers[0].weight, before)
    assert torch.equal(model.reward.layers[0].weight, source.reward.layers[0].weight)
    again = tiny.model(SENSORS, seed=3, costs=True)
    carry_over(again, model)
    assert torch.equal(again.cost.layers[0].weight, before)
    carry_over(tiny.model(SENSORS, seed=4), model)


def test_presets_and_settings() -> None:
    config = stack(["nano", "dropout", "safe"])
    assert (config.objective, config.variant, config.size) == ("safe", "dropout", "nano")
    assert (config.cost_limit, config.cost_weight, config.penalty) == (2.0, 10.0, 5e-9)
    for penalty in (0.0, 1.5):
        with pytest.raises(ValueError, match="penalty must be above 0 and at most 1"):
            TrainConfig(penalty=penalty)


ROAD = TrainConfig(
    env=LANES, size="smaller", rows=8, batch=8, length=8, prefill=40, capacity=8000, updates=200, segment=200,
    evaluate_every=200, evaluate_episodes=4, threads=1, warmup=20, learning_rate=2e-3, imagine_steps=4,
    discount_horizon=10.0, entropy=3e-3, penalty=2e-4, cost_limit=3.0,
)  # fmt: skip


def test_a_safe_agent_learns_to_do_nearly_as_well_without_the_cost(tmp_path, monkeypatch) -> None:
    """The fast lane pays 1 and costs 1 in each of twenty steps, the middle one pays 0.9 and is free.

    Its model knows both: a planner takes the fast lane where the cost is no matter, else the middle one.
    """
    sizes = {"deter": 64, "hidden": 32, "classes": 8, "depth": 2, "units": 32, "stoch": 8}
    monkeypatch.setitem(SIZES, "smaller", sizes)
    last, models = {}, {}
    for objective in ("ordinary", "safe"):
        models[objective] = train(replace(ROAD, objective=objective), tmp_path / objective, lambda line: None)
        last[objective] = log.read(tmp_path / objective)[-1]
    assert last["ordinary"]["score"] > 19
    assert last["ordinary"]["cost"] > 17
    assert last["safe"]["score"] > 16
    assert last["safe"]["cost"] < 2
    for limit, score, cost in ((float("inf"), 19.9, 19.0), (100.0, 18.0, 0.0)):
        planner = wiser.plan(models["safe"], horizon=4, samples=100, elites=10, cost_limit=limit, discount=0.9)
        planned = evaluate(ROAD, planner, 2)
        assert planned["score"] == pytest.approx(score, abs=1.0)
        assert planned["cost"] == pytest.approx(cost, abs=1.0)
