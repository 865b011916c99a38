"""What Safety Gymnasium tells the house: its measures, its ratio, its presets, and the paper's experiment as plans."""

import json
import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import yaml

from tests.envs.safety.courses import NAMES, needs_gl
from wiser.commands import train
from wiser.envs.domain import domain_of, known_tasks, references
from wiser.envs.safety.domain import AGENTS, SCORES
from wiser.envs.safety.names import LENGTH, REPEAT, SENSORS
from wiser.evaluate.contenders import agent_name
from wiser.evaluate.plan import Plan
from wiser.guard import AUTO
from wiser.options import read_settings
from wiser.rollout import Moment, Scorebook, Trial
from wiser.train.config import TrainConfig, stack
from wiser.worldmodel.planner import CrossEntropy

DOMAIN = domain_of(NAMES[0])
ROOT = Path(__file__).parents[3]
PRESETS = ("point-goal1", "point-goal2", "point-button1", "car-goal1")


def test_the_ratio_is_of_means_and_no_cost_is_no_fault() -> None:
    ratio = DOMAIN.summaries["score-cost ratio"]
    assert ratio([{"score": 10.0, "cost": 4.0}, {"score": 2.0, "cost": 0.0}]) == 3.0
    assert ratio([{"score": 10.0, "cost": 0.0}, {"score": 4.0, "cost": 0.0}]) == 7.0
    assert ratio([{"score": 10.0, "cost": 1.0}]) == 10.0
    assert ratio([{"score": -3.0, "cost": 6.0}]) == -0.5


@pytest.mark.parametrize("cost", [0.0, 0.5, 3.0])
def test_the_ratio_does_not_grow_with_the_number_of_episodes(cost) -> None:
    ratio, episode = DOMAIN.summaries["score-cost ratio"], {"score": 12.0, "cost": cost}
    assert ratio([episode]) == ratio(30 * [episode]) == 12.0 / max(1.0, cost)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("policy", ["random", "expert"])
def test_measured_ratios_are_those_of_the_measured_means(name, policy) -> None:
    measured = json.loads(SCORES.read_text())["tasks"][name][policy]
    assert measured["ratio"] == pytest.approx(measured["score"] / max(1.0, measured["cost"]), abs=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_references_were_measured_and_the_pilot_is_worth_learning_from(name) -> None:
    random, expert = references(name) or (np.nan, np.nan)
    assert expert > random + 10
    assert abs(random) < 2


def test_all_tasks_are_known() -> None:
    assert set(NAMES) <= {task.name for task in known_tasks()}
    assert agent_name("SafetyPointGoal1", "dropout") == "point-goal1/dropout"
    assert set(AGENTS) == set(NAMES)


@needs_gl
@pytest.mark.parametrize(("options", "actions"), [({}, 200), ({"repeat": 3}, 334), ({"repeat": 1}, 1000)])
def test_episodes_are_counted_to_their_end_however_often_actions_are_repeated(options, actions) -> None:
    trial = Trial("wiser/SafetyPointGoal1-v0", 1, 0, options={"size": 4, **options})
    env, book = trial.make(1, 0, ["birdeye"]), Scorebook(DOMAIN, 1, trial.limit)
    env.reset(seed=0)
    while book.running.any():
        _, reward, terminated, truncated, info = env.step(np.zeros((1, 2), np.float32))
        book.add(moment(reward, terminated, truncated, info))
    assert book.result(0).length == actions
    assert book.outcome == ["out of time"]
    env.close()


def moment(reward, terminated, truncated, info) -> Moment:
    """Of a loop without a guard."""
    unseen: Any = None
    return Moment({}, unseen, unseen, unseen, unseen, unseen, reward, terminated, truncated, info, {})


def test_blind_it_stands_still() -> None:
    assert DOMAIN.fallback("wiser/SafetyPointGoal1-v0", gym.spaces.Box(-1, 1, (2,))).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_stack_as_those_of_driving_do(preset) -> None:
    config, driving = stack((f"safety/{preset}", "nano", "dropout")), stack(("driving/stop-sign", "nano", "dropout"))
    assert AGENTS[config.env.removeprefix("wiser/").removesuffix("-v0")] == preset
    assert (config.size, config.variant) == (driving.size, driving.variant)
    assert (config.cloning, config.cloning_floor, config.cloning_pull) == (3.0, 1.0, 10.0)
    assert (config.steps_per_update, config.imagine_steps, config.discount_horizon) == (1, 15, 60.0)
    assert config.life * config.steps_per_update <= 1000, "which a resume drives again"
    assert set(config.sensors or SENSORS) == set(SENSORS)


def test_the_published_budget_needs_no_teacher() -> None:
    config = stack(("safety/point-goal1", "safety/published", "dropout"))
    assert config.cloning == config.cloning_floor == config.expert_share == config.greedy_share == 0
    steps = config.updates * config.rows * config.steps_per_update
    assert config.updates * config.batch * config.length == 512 * steps
    assert config.env == "wiser/SafetyPointGoal1-v0"
    assert config.discount_horizon == TrainConfig().discount_horizon


def test_the_guide_plans_for_as_many_actions_as_an_episode_has() -> None:
    guide = (ROOT / "docs" / "safety.md").read_text()
    (words,) = re.findall(r"--planner cem:(\S+?)`", guide)
    settings = CrossEntropy(**read_settings(words, "a planner"))
    assert settings.episode == LENGTH // REPEAT == 200
    assert settings.discount == pytest.approx(stack(("safety/point-goal1",)).discount, abs=1e-4)


@pytest.fixture
def recipes(monkeypatch) -> dict[str, TrainConfig]:
    """What `wiser train` makes of each."""
    file = ROOT / "experiments" / "runs" / "safety.yaml"
    made: list[TrainConfig] = []
    monkeypatch.setattr(train, "_run", lambda config, folder, console: made.append(config))
    told = yaml.safe_load(file.read_text())
    assert [train.train(recipe.split()) for recipe in told.values()] == [0] * len(told)
    return dict(zip(told, made, strict=True))


def test_recipes_make_the_agents_that_plans_ask_for_and_start_from_what_is_there(recipes) -> None:
    made: list[str] = []
    for name, config in recipes.items():
        task, variant = name.split("/")
        assert AGENTS[config.env.removeprefix("wiser/").removesuffix("-v0")] == task
        assert variant == (config.objective if config.objective == "safe" else config.variant)
        assert not config.start or config.start in made
        made.append(name)
    plans = [Plan.read(name) for name in ("safety", "safety-cost")]
    wanted = {agent_name(task, one.agent) for plan in plans for task in plan.tasks for one in plan.named().values()}
    assert wanted <= set(made)


def test_the_limit_of_the_safe_recipe_is_a_cost_of_two_an_episode(recipes) -> None:
    """Were every action to cost as much as the next: fifteen returns, each of sixty actions, of 200 in an episode."""
    config, an_episode, actions = recipes["point-goal1/safe"], 2.0, 200
    ahead = sum(config.discount**step for step in range(10_000))
    assert config.cost_limit == pytest.approx(config.imagine_steps * ahead * an_episode / actions, rel=1e-6)
    assert config.penalty * config.cost_limit * config.updates == pytest.approx(0.036)
    assert (config.cloning, config.cloning_floor) == (1.0, 0.3)


@pytest.mark.parametrize("failures", [(0, 3), (0, 1, 2)])
@pytest.mark.parametrize("onset", [0, 100])
def test_the_paper_s_experiment_is_a_plan(failures, onset) -> None:
    name = "safety" + "-some" * (failures != (0, 3)) + "-onset" * (onset > 0)
    plan = Plan.read(name)
    assert set(plan.disturbances) == {"gaussian", "jitter", "glare", "occlusion"}
    assert {"base", "augmented", "rme", "confident"} <= set(plan.contenders)
    assert plan.onset == onset
    assert plan.failures == failures
    assert set(plan.tasks) < set(NAMES)
    assert plan.own_treatments["default guard"].judge == AUTO
    assert len(plan.named()) == 6


def test_what_a_limit_on_the_cost_costs_is_a_plan() -> None:
    plan = Plan.read("safety-cost")
    agents = {name: agent_name(plan.tasks[0], one.agent) for name, one in plan.named().items()}
    assert agents == {"dropout": "point-goal1/dropout", "safe": "point-goal1/safe"}
    assert {one.treatment for one in plan.named().values()} == {"none"}
    assert (plan.failures, plan.episodes, plan.seeds) == ((0,), 100, (5,))
