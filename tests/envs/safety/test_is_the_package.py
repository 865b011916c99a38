"""Physics, rewards and costs are those of the package, which is stepped directly, lidar and all."""

import numpy as np
import pytest

from tests.envs.safety.courses import NAMES, moves, package_env
from wiser.envs.safety.course import Course
from wiser.envs.safety.package import world
from wiser.envs.safety.pilot import Pilot

REPEAT, STEPS = 5, 24


def totals(env, action) -> tuple:
    """What the package says of an action that is taken five times."""
    reward, cost, goals = 0.0, 0.0, 0
    for _ in range(REPEAT):
        _, paid, harm, terminated, truncated, info = env.step(action)
        reward, cost, goals = reward + paid, cost + harm, goals + info.get("goal_met", False)
        if terminated or truncated:
            break
    return reward, cost, goals, terminated, truncated


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [3, 11])
def test_reward_and_cost_are_the_package_s_step_by_step(name, seed) -> None:
    course, package = Course(name), package_env(name)
    course.begin(seed)
    package.reset(seed=seed)
    for action in moves(STEPS, seed):
        assert tuple(course.act(action)) == totals(package, action)
        np.testing.assert_array_equal(course.task.data.qpos, package.task.data.qpos)


@pytest.mark.parametrize("name", NAMES)
def test_also_where_goals_are_reached_and_harm_is_done(name) -> None:
    """The pilot leads to the goals, and a straight way leads through what stands there."""
    course, package = Course(name), package_env(name)
    course.begin(5)
    package.reset(seed=5)
    told = []
    for step in range(45):
        action = Pilot(course).action().astype(float) if step < 35 else np.array([1.0, 1.0 if "Car" in name else 0.0])
        told.append(course.act(action))
        assert tuple(told[-1]) == totals(package, action)
    assert sum(one.goals for one in told) > 0


def test_harm_is_counted() -> None:
    """Straight on through ten hazards and ten vases, over many seeds."""
    course, package = Course("SafetyPointGoal2"), package_env("SafetyPointGoal2")
    costs = []
    for seed in range(4):
        course.begin(seed)
        package.reset(seed=seed)
        for _ in range(20):
            told = course.act(np.array([1.0, 0.0]))
            assert tuple(told) == totals(package, np.array([1.0, 0.0]))
            costs.append(told.cost)
    assert max(costs) == REPEAT, "harmful at each of the five steps"
    assert 0 in costs


def test_the_small_sky_changes_nothing_but_the_sky(monkeypatch) -> None:
    course = Course("SafetyPointGoal1")
    small, large = world.BASE_DIR, str(world.__file__).removesuffix("/world.py")
    assert small != large
    course.begin(2)
    monkeypatch.setattr(world, "BASE_DIR", large)
    package = package_env("SafetyPointGoal1")
    package.reset(seed=2)
    for action in moves(10):
        assert tuple(course.act(action)) == totals(package, action)


def test_later_episodes_follow_from_the_seed_as_in_the_package() -> None:
    course, package = Course("SafetyPointGoal1"), package_env("SafetyPointGoal1")
    course.begin(4)
    package.reset(seed=4)
    course.begin(None)
    package.reset()
    np.testing.assert_array_equal(course.task.data.qpos, package.task.data.qpos)
    np.testing.assert_array_equal(course.task.goal.pos, package.task.goal.pos)
    course.begin(4)
    assert not np.array_equal(course.task.goal.pos, package.task.goal.pos)


def test_nobody_else_s_random_numbers_are_used() -> None:
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    course = Course("SafetyPointGoal1")
    course.begin(0)
    course.act(np.zeros(2))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize(("repeat", "actions"), [(1, 1000), (3, 334), (5, 200)])
def test_an_episode_has_a_thousand_of_the_package_s_steps(repeat, actions) -> None:
    course = Course("SafetyPointGoal1", repeat)
    course.begin(0)
    told = [course.act(np.zeros(2)) for _ in range(actions)]
    assert [one.truncated for one in told] == [False] * (actions - 1) + [True]
    assert not any(one.terminated for one in told)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="there are SafetyPointGoal1"):
        Course("SafetyDoggoGoal1")
    with pytest.raises(ValueError, match="at least once, got repeat 0"):
        Course("SafetyPointGoal1", 0)
