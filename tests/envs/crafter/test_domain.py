"""What Crafter tells the house: its score, its measures, and the paper's experiment as plans."""

import numpy as np
import pytest

from tests.fake_world import SAMPLED
from wiser.envs.crafter.names import ACHIEVEMENTS, NOVELTIES
from wiser.envs.domain import domain_of, find_task, known_tasks, references
from wiser.evaluate.contenders import CONTENDERS, agent_name
from wiser.evaluate.plan import Plan
from wiser.guard import AUTO, Greedy
from wiser.train.config import stack

SCORE = domain_of("Crafter").summaries["Crafter score"]


def test_the_score_is_the_benchmark_s_geometric_mean() -> None:
    """exp(mean of ln(1 + success rate in percent)) - 1, by hand."""
    episodes = [dict.fromkeys(ACHIEVEMENTS, 0.0) for _ in range(4)]
    assert SCORE(episodes) == 0.0
    episodes[0]["collect_wood"] = episodes[1]["collect_wood"] = 1.0  # 50 %
    episodes[2]["wake_up"] = 1.0  # 25 %
    assert SCORE(episodes) == pytest.approx((51 * 26) ** (1 / 22) - 1)
    assert SCORE([dict.fromkeys(ACHIEVEMENTS, 1.0)]) == pytest.approx(100.0)


def test_achievements_are_details_that_the_score_speaks_for() -> None:
    measures = domain_of("CrafterShort").measures
    assert {name for name, measure in measures.items() if measure.detail} == set(ACHIEVEMENTS)


def test_references_were_measured_and_the_survivor_is_worth_learning_from() -> None:
    random, expert = references("CrafterShort") or (np.nan, np.nan)
    assert expert > 5 * random > 0


def test_both_tasks_are_known() -> None:
    assert {"Crafter", "CrafterShort"} <= {task.name for task in known_tasks()}
    assert find_task("Crafter").longest == 10 * find_task("CrafterShort").longest
    assert agent_name("CrafterShort", "dropout") == "crafter/dropout"


def test_agents_sample_their_actions_here_and_nowhere_else() -> None:
    sampled = {task.name for task in known_tasks() if domain_of(task.env).sample_actions}
    assert sampled - {SAMPLED} == {"Crafter", "CrafterShort"}


@pytest.mark.parametrize("name", ["crafter", "crafter-depth", "crafter-onset"])
def test_the_paper_s_experiment_is_a_plan(name) -> None:
    plan = Plan.read(name)
    assert set(plan.disturbances) == set(NOVELTIES) == set(domain_of(plan.tasks[0]).novelties)
    assert 0 in plan.failures
    cells = len(plan.named()) * (1 + len(plan.disturbances))
    assert (cells, plan.episodes) == {"crafter": (25, 100), "crafter-depth": (35, 50), "crafter-onset": (20, 50)}[name]
    assert (plan.named().get("base") == CONTENDERS["base"]) == (name == "crafter")
    judges = [treatment.judge for treatment in plan.own_treatments.values()]
    assert judges[:2] == ["none", Greedy(depth=0, include_full=False)], "unguarded, then one representation alone"
    assert AUTO in judges if name != "crafter-depth" else [judge.depth for judge in judges[1:]] == list(range(6))


@pytest.mark.parametrize(("presets", "rows"), [
    (("crafter/taught", "nano", "dropout"), 16), (("nano", "pure", "crafter/alone", "dropout"), 8),
    (("crafter/published", "dropout"), 1),
])  # fmt: skip
def test_presets_stack(presets, rows) -> None:
    config = stack(presets)
    assert (config.rows, config.variant) == (rows, "dropout")
    assert (config.cloning > 0) == (config.cloning_floor > 0) == ("crafter/taught" in presets)
    assert config.greedy_share == 0, "they are sampled when they are evaluated"
    if "crafter/published" in presets:
        steps = config.updates * config.rows * config.steps_per_update
        assert steps == 1_000_000
        assert config.updates * config.batch * config.length == 512 * steps
