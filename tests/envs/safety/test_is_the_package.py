"""Physics, rewards and costs are those of the package, which is stepped directly, lidar and all."""

import numpy as np
import pytest

from tests.envs.safety.courses import NAMES, moves, package_env, place
from wiser.envs.safety.course import Course
from wiser.envs.safety.package import mujoco, world
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


STATE = ("qpos", "qvel", "qacc", "qacc_warmstart", "ctrl", "xpos", "xmat", "sensordata", "mocap_pos", "time")
HARM = [
    ("SafetyPointGoal1", 0, 60, {"hazards"}),
    ("SafetyPointGoal2", 3, 75, {"hazards", "vases_contact", "vases_velocity"}),
    ("SafetyPointButton1", 8, 80, {"gremlins", "buttons"}),
    ("SafetyPointButton1", 19, 60, {"hazards", "gremlins"}),
    ("SafetyPointButton1", 39, 50, {"buttons", "goals"}),
    ("SafetyCarGoal1", 0, 60, set()),
]
"""Where a bend to the left leads in so many steps, in words of the package."""


@pytest.mark.parametrize(("name", "seed", "steps", "expected"), HARM)
def test_the_whole_state_and_the_cost_of_every_kind_are_the_package_s(name, seed, steps, expected) -> None:
    course, package, met = Course(name, 1), package_env(name), set()
    course.begin(seed)
    package.reset(seed=seed)
    for _ in range(steps):
        told, theirs = course.act(np.array([1.0, 0.1])), package.step(np.array([1.0, 0.1]))
        assert course.simulation.cost == package.cost
        for field in STATE:
            np.testing.assert_array_equal(getattr(course.task.data, field), getattr(package.task.data, field), field)
        assert told.reward == theirs[1]
        met |= {kind.removeprefix("cost_") for kind, cost in package.cost.items() if cost}
        met |= {"goals"} if "goal_met" in theirs[-1] else set()
    assert expected <= met


@pytest.mark.parametrize("name", NAMES)
def test_layouts_are_the_package_s(name) -> None:
    course, package = Course(name), package_env(name)
    for seed in (0, 1, None):
        course.begin(seed)
        package.reset(seed=seed)
        found, expected = (one.task.world_info.layout for one in (course, package))
        assert list(found) == list(expected)
        for thing in expected:
            np.testing.assert_array_equal(found[thing], expected[thing])


def assert_as_the_package_says(task) -> dict[str, float]:
    """What the package's own methods say of the same world; returns the costs."""
    package = type(task).__bases__[1]
    found, expected = task.calculate_cost(), package.calculate_cost(task)
    assert found == expected
    assert list(found) == list(expected)
    assert task.goal_achieved == package.goal_achieved.fget(task)
    assert task.dist_goal() == package.dist_goal(task)
    return expected


@pytest.mark.parametrize("name", NAMES)
def test_wherever_the_robot_is_harm_and_goal_are_as_the_package_says(name) -> None:
    """Upon everything, and beside it."""
    course, rng, met = Course(name), np.random.default_rng(0), set()
    course.begin(1)
    task = course.task
    bodies = [task.model.body(number) for number in range(task.model.nbody)]
    things = [body for body in bodies if body.name.startswith(("goal", "hazard", "vase", "button", "gremlin"))]
    for spot, thing in enumerate(3 * things):
        x, y, _ = task.data.xpos[thing.id]
        place(course, x + rng.uniform(0.0, 0.3), y, rng.uniform(-3, 3))
        if "Button" in name:
            task.buttons.timer = spot % 2
        met |= {kind for kind, cost in assert_as_the_package_says(task).items() if cost}
        met |= {"goal"} if task.goal_achieved else set()
    kinds = {"Goal1": set(), "Goal2": {"cost_vases_contact"}, "Button1": {"cost_buttons", "cost_gremlins"}}
    assert met == {
        "goal",
        "cost_sum",
        "cost_hazards",
        *kinds[name.removeprefix("SafetyPoint").removeprefix("SafetyCar")],
    }


@pytest.mark.parametrize("share", [0.5, 0.89, 0.91, 1 - 1e-15, 1.0, 1 + 1e-15, 1.2, 1e4])
def test_vases_cost_from_the_package_s_speed_on(share) -> None:
    course = Course("SafetyPointGoal2")
    course.begin(1)
    task, rng = course.task, np.random.default_rng(0)
    for vase in range(10):
        way = rng.normal(size=3)
        speed = task.data.joint(f"vase{vase}").qvel
        speed[:3], speed[3:] = share * task.vases.velocity_threshold * way / np.linalg.norm(way), rng.normal(size=3)
    mujoco.mj_forward(task.model, task.data)
    cost = assert_as_the_package_says(task)["cost_vases_velocity"]
    assert (cost > 0) == (share > 0.95) or share == pytest.approx(1.0)


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
