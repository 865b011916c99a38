"""What Safety Gymnasium tells the house: its measures, its ratio, its presets, and the paper's experiment as plans."""

import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tests.envs.safety.courses import NAMES, needs_gl
from wiser.envs.domain import domain_of, known_tasks, references
from wiser.envs.safety.domain import AGENTS, SCORES
from wiser.envs.safety.names import SENSORS
from wiser.evaluate.contenders import agent_name
from wiser.evaluate.plan import Plan
from wiser.guard import AUTO
from wiser.rollout import Moment, Scorebook, Trial
from wiser.train.config import stack

DOMAIN = domain_of(NAMES[0])
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
    assert config.cloning > 0
    assert config.life * config.steps_per_update <= 1000, "which a resume drives again"
    assert set(config.sensors or SENSORS) == set(SENSORS)


def test_the_published_budget_needs_no_teacher() -> None:
    config = stack(("safety/point-goal1", "safety/published", "dropout"))
    assert config.cloning == config.cloning_floor == config.expert_share == config.greedy_share == 0
    steps = config.updates * config.rows * config.steps_per_update
    assert config.updates * config.batch * config.length == 512 * steps
    assert config.env == "wiser/SafetyPointGoal1-v0"


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
