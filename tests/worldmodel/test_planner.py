"""Plans against exhaustive search, with a limit on the cost and without; and what a planning agent is to a guard."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import wiser
from tests import fake_world, tiny
from wiser.commands.evaluate import evaluate
from wiser.guard import Guard
from wiser.worldmodel.dreamer.heads import features
from wiser.worldmodel.foresight import Foreseen
from wiser.worldmodel.planner import Choices, CrossEntropy, Normals, planned
from wiser.worldmodel.protocol import Actions, Belief, Prior

SENSORS = (tiny.image("camera"), tiny.vector("speed"))
SMALL = {"horizon": 4, "samples": 40, "elites": 8, "iterations": 3}
DISCOUNT, LAMBDA = 0.9, 0.8


class Toy:
    """A model that knows its world: `deter` is where one is, a latent does not matter."""

    sensors, decodes, folder, digest = SENSORS, (), None, None
    embed = infer = decode = None

    def __init__(self, actions: Actions) -> None:
        self.actions = actions

    def initial(self, rows: int) -> Belief:
        return self.at(torch.zeros(rows))

    def at(self, place: Any) -> Belief:
        where = torch.as_tensor(place, dtype=torch.float32).view(-1, 1)
        return Belief(where, torch.ones(len(where), 1, 1))

    def predict(self, belief: Belief, action: torch.Tensor, first: torch.Tensor) -> Prior:
        assert not first.any()
        return Prior(self.move(belief.deter, action), torch.zeros(len(action), 1, 1))

    def foresee(self, belief: Belief) -> Foreseen:
        return self.look(belief.deter[..., 0])


class Street(Toy):
    """Nine places in a row; left, stay, right. What a place pays, costs and is worth is drawn at random."""

    def __init__(self, seed: int) -> None:
        super().__init__(Actions(3))
        rng = np.random.default_rng(seed)
        self.tables = [rng.normal(size=9), rng.random(9) < 0.3, rng.uniform(0.7, 1.0, 9), rng.normal(size=9)]

    def move(self, place: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return (place + action.argmax(-1, keepdim=True) - 1).clamp(0, 8)

    def look(self, place: torch.Tensor) -> Foreseen:
        return Foreseen(*(torch.as_tensor(table, dtype=torch.float32)[place.long()] for table in self.tables))


class Slope(Toy):
    """A number that an action moves by up to 0.4; the nearer to 1 the better, but beyond 0.5 it costs."""

    def __init__(self) -> None:
        super().__init__(Actions(1, False, (-1.0,), (1.0,)))

    def move(self, place: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return place + 0.4 * action

    def look(self, place: torch.Tensor) -> Foreseen:
        zero = torch.zeros_like(place)
        return Foreseen(-((place - 1) ** 2), (place > 0.5).float(), zero + 1, zero)


def amounts(toy: Toy, start: float, sequence: Any) -> tuple[float, float]:
    """Lambda-return and mean cost of a sequence of actions (H, A), one plain step after another."""
    place, seen = torch.tensor([[start]]), []
    for action in sequence:
        place = toy.move(place, torch.as_tensor(action)[None].float())
        seen.append([float(value) for value in toy.look(place[:, 0])])
    total = seen[-1][3]
    for reward, _, proceed, value in reversed(seen):
        total = reward + DISCOUNT * proceed * ((1 - LAMBDA) * value + LAMBDA * total)
    return total, float(np.mean([cost for _, cost, *_ in seen]))


def search(toy: Toy, start: float, sequences: Any, limit: float) -> tuple[float, float]:
    """Return and cost of the best sequence that costs less than the limit; of the cheapest ones where none does."""
    found = [amounts(toy, start, sequence) for sequence in sequences]
    if safe := [pair for pair in found if pair[1] < limit]:
        return max(safe)
    return max(pair for pair in found if pair[1] == min(cost for _, cost in found))


SEQUENCES = [np.eye(3)[list(choice)] for choice in product(range(3), repeat=4)]


@pytest.mark.parametrize("limit", [float("inf"), 0.3])
def test_plans_of_choices_are_the_best_of_all(limit: float) -> None:
    """81 sequences of four choices, in random streets. Plans are right nearly always, and never unsafe."""
    right = 0
    for seed in range(12):
        toy, start = Street(seed), float(seed % 9)
        planner = wiser.plan(
            toy, horizon=4, samples=500, elites=6, cost_limit=limit, episode=1, discount=DISCOUNT, return_lambda=LAMBDA
        )
        found, cost = amounts(toy, start, planner.plan(toy.at(start)).best())
        best, least = search(toy, start, SEQUENCES, limit)
        assert cost < limit or cost == least
        assert found <= best + 1e-5 or cost > least
        right += abs(found - best) < 1e-5
    assert right >= 11


@pytest.mark.parametrize(("limit", "end"), [(float("inf"), 1.0), (0.1, 0.5)])
def test_plans_of_numbers_come_close_to_the_best(limit: float, end: float) -> None:
    """Three moves of up to 0.4 from 0: without a limit to 1, with one up to the border and no further."""
    toy = Slope()
    grid = [np.array(moves)[:, None] for moves in product(np.linspace(-1, 1, 21), repeat=3)]
    best, _ = search(toy, 0.0, grid, limit)
    planner = wiser.plan(toy, horizon=3, cost_limit=limit, episode=1, discount=DISCOUNT, return_lambda=LAMBDA)
    plan = planner.plan(toy.at(0.0)).best()
    found, cost = amounts(toy, 0.0, plan)
    assert cost < limit
    assert found == pytest.approx(best, abs=0.02)
    assert float(0.4 * plan.sum()) == pytest.approx(end, abs=0.05)
    assert torch.equal(planner.act(toy.at(0.0))[0], plan[0])


def test_where_nothing_is_safe_plans_cost_as_little_as_they_can() -> None:
    """From 1.3, with moves of 0.4, two of three steps cost at least: it turns back as fast as it can."""
    planner = wiser.plan(Slope(), horizon=3, cost_limit=0.5, episode=1)
    assert float(planner.act(Slope().at(1.3))) < -0.9
    free = wiser.plan(Slope(), horizon=3, cost_limit=float("inf"), episode=1)
    assert -0.9 < float(free.act(Slope().at(1.3))) < -0.5, "straight to 1"


@pytest.mark.parametrize(("told", "half"), [({}, 500), ({"episode": 200}, 100)])
def test_the_limit_is_for_an_episode_of_so_many_actions(told: dict[str, int], half: float) -> None:
    """One costly action of two: as many as half an episode has."""
    toy = Street(0)
    toy.tables = [np.arange(9.0), np.arange(9) == 5, np.ones(9), np.zeros(9)]
    reached = {}
    for limit in (half - 1, half + 1):
        plan = wiser.plan(toy, horizon=2, cost_limit=limit, samples=200, elites=10, **told).plan(toy.at(4)).best()
        reached[limit] = float(plan.argmax(-1).sum()) - 2 + 4
    assert reached == {half - 1: 4.0, half + 1: 6.0}


def test_proposals_by_hand() -> None:
    """Quantiles of what is drawn, and a tenth of the old mean in the new one."""
    numbers = Normals(torch.tensor([[0.5], [0.0]]), torch.tensor([[0.2], [0.1]]))
    drawn = numbers.draw(torch.tensor([0.5, 0.8413447, 0.9999]).view(1, 3, 1).expand(2, 3, 1))[..., 0]
    torch.testing.assert_close(drawn, torch.tensor([[0.5, 0.7, 1.0], [0.0, 0.1, 0.37190]]), atol=1e-4, rtol=0)
    moved = numbers.towards(torch.tensor([[0.1, 0.3], [-0.4, -0.4]])[..., None], 0.1)
    torch.testing.assert_close(moved.mean, torch.tensor([[0.23], [-0.36]]))
    torch.testing.assert_close(moved.std, torch.tensor([[0.1], [0.0]]))
    choices = Choices(torch.tensor([[0.2, 0.5, 0.3]]))
    drawn = choices.draw(torch.tensor([0.1, 0.3, 0.69, 0.71]).view(1, 4, 1).expand(1, 4, 3))
    assert drawn.argmax(-1).tolist() == [[0, 1, 1, 2]]
    moved = choices.towards(torch.eye(3)[[0, 0, 0, 2]][None], 0.1)
    torch.testing.assert_close(moved.chances, torch.tensor([[0.695, 0.05, 0.255]]))
    assert moved.best().tolist() == [[1, 0, 0]]


def test_sequences_are_imagined_as_the_model_goes() -> None:
    """Three sequences of a DreamerV3, each alone and one step after another."""
    model = tiny.model(SENSORS, costs=True)
    planner = wiser.plan(model, horizon=4, episode=10, discount=DISCOUNT, return_lambda=LAMBDA)
    generator = torch.Generator().manual_seed(0)
    start = Belief(torch.randn(1, 32, generator=generator), torch.eye(4)[torch.tensor([[0, 1, 2, 3, 0, 1]])])
    actions = torch.eye(5)[torch.randint(0, 5, (4, 3), generator=generator)]
    noise = torch.rand(4, 3, 6, generator=generator)
    returns, costs = planner._imagine(start, actions, noise)
    for course in range(3):
        belief, seen = start, []
        for t in range(4):
            prior = model.predict(belief, actions[t, course : course + 1], torch.zeros(1, dtype=torch.bool))
            below = (prior.logprobs.exp().cumsum(-1) <= noise[t, course][None, :, None]).sum(-1).clamp(max=3)
            belief = Belief(prior.deter, torch.eye(4)[below])
            seen.append([float(value) for value in model.foresee(belief)])
        total = seen[-1][3]
        for reward, _, proceed, value in reversed(seen):
            total = reward + DISCOUNT * proceed * ((1 - LAMBDA) * value + LAMBDA * total)
        assert float(returns[course]) == pytest.approx(total, rel=1e-3)
        assert float(costs[course]) == pytest.approx(10 * np.mean([cost for _, cost, *_ in seen]), rel=1e-3)


@pytest.mark.parametrize("actions", [tiny.DISCRETE, tiny.CONTINUOUS])
@pytest.mark.parametrize("sampled", [False, True])
def test_rows_planned_together_are_those_planned_alone(actions: Actions, sampled: bool) -> None:
    model = tiny.model(SENSORS, actions, costs=True)
    generator = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 4, (3, 6), generator=generator)
    belief = Belief(torch.randn(3, 32, generator=generator), F.one_hot(codes, 4).float())
    noise = torch.rand(3, actions.size, generator=generator) if sampled else None
    planner = wiser.plan(model, **SMALL)
    together = planner.act(belief, noise)
    for row in range(3):
        part = slice(row, row + 1)
        alone = planner.act(Belief(belief.deter[part], belief.stoch[part]), None if noise is None else noise[part])
        assert torch.equal(together[part], alone)
    assert torch.equal(wiser.plan(model, **SMALL).act(belief, noise), together), "the same seed, the same plans"
    if not actions.discrete:
        assert not torch.equal(wiser.plan(model, **SMALL, seed=1).act(belief, noise), together)


def test_a_guard_protects_a_planning_agent_like_any_other(tmp_path) -> None:
    """What it believes and trusts rests on the same model: told of the same actions, it is the same."""
    model = wiser.load(wiser.save(tiny.model(SENSORS, costs=True), tmp_path))
    planner = wiser.plan(model, **SMALL)
    assert (planner.folder, planner.digest) == (tmp_path, model.digest)
    plain, planning = (Guard(agent, "greedy", rows=2) for agent in (model, planner))
    rng, differs = np.random.default_rng(0), False
    for _ in range(3):
        obs = tiny.batch(SENSORS, 2, rng)
        chosen, verdict = planning.act(obs)
        other, expected = plain.act(obs)
        plain.executed(chosen)
        differs |= not np.array_equal(chosen, other)
        assert torch.equal(planning.belief.deter, plain.belief.deter)
        assert np.array_equal(verdict.trusted, expected.trusted)
    assert differs


def test_what_a_model_foresees_is_what_its_heads_say() -> None:
    for costs in (False, True):
        model = tiny.model(SENSORS, costs=costs)
        belief = Belief(torch.randn(2, 5, 32), torch.rand(2, 5, 6, 4))
        x, ahead = features(belief), model.foresee(belief)
        assert torch.equal(ahead.reward, model.reward.mean(x))
        assert torch.equal(ahead.value, model.critic.mean(x))
        torch.testing.assert_close(ahead.proceed.logit(), model.proceed(x))
        assert torch.equal(ahead.cost, model.cost.mean(x) if costs else torch.zeros(2, 5))
        assert bool(ahead.cost.any()) == costs


def test_mistakes_are_named() -> None:
    model = tiny.model(SENSORS)
    for name, said in (
        ("cme", r"unknown planner 'cme' .did you mean 'cem'"),
        ("cem:wings=2", "unknown fields .'wings'. of planner 'cem'"),
        ("cem:samples", "settings of a planner are KEY=VALUE"),
        ("cem:samples=many", "samples is a whole number, got 'many'"),
        ("cem:momentum=2", "momentum is from 0 to 1, got 2"),
        ("cem:elites=501", "samples must be at least 501, got 500"),
    ):
        with pytest.raises(ValueError, match=said):
            planned(model, name)
    with pytest.raises(ValueError, match="object cannot be planned with"):
        wiser.plan(object())
    assert planned(model, "cem:samples=60,cost_limit=.inf").settings == CrossEntropy(
        samples=60, cost_limit=float("inf")
    )


def test_wiser_eval_lets_an_agent_plan(tmp_path, capsys) -> None:
    agent = wiser.save(tiny.model(*fake_world.described(), costs=True), tmp_path)
    planner = "cem:horizon=2,samples=8,elites=2,iterations=1"
    assert evaluate(str(agent), fake_world.SINGLE, ("none",), planner=planner, episodes=2, threads=1) == 0
    assert "2 episodes" in capsys.readouterr().out
    assert evaluate(str(agent), fake_world.SINGLE, ("none",), planner="wings", threads=1) == 2
