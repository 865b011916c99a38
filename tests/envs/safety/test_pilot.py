"""The script that teaches: to the goals, round what must not be touched, and far better than chance."""

import numpy as np
import pytest

from tests.envs.safety.courses import NAMES, place
from wiser.envs.domain import domain_of
from wiser.envs.safety.course import Course
from wiser.envs.safety.package import mujoco
from wiser.envs.safety.pilot import Pilot
from wiser.envs.safety.scores import drive
from wiser.envs.vector import make_rows


def empty(name: str) -> Course:
    """Nothing but the robot in the middle, and a goal far away."""
    course = Course(name)
    course.begin(0)
    move(course, goal0=(9.0, 9.0))
    for kind, number in (("hazard", 8), ("vase", 1)):
        move(course, **{f"{kind}{i}": (9.0 + i, -9.0) for i in range(number)})
    place(course, 0.0, 0.0)
    return course


def move(course: Course, **places: tuple[float, float]) -> None:
    model, data = course.task.model, course.task.data
    for name, (x, y) in places.items():
        if name.startswith("vase"):
            data.joint(name).qpos[:2] = x, y
        else:
            model.body("goal" if name == "goal0" else name).pos[:2] = x, y
    mujoco.mj_forward(model, data)


@pytest.mark.parametrize("name", ["SafetyPointGoal1", "SafetyCarGoal1"])
@pytest.mark.parametrize("side", [-1, 1])
def test_it_turns_to_the_goal(name, side) -> None:
    course = empty(name)
    move(course, goal0=(0.3, 1.5 * side))
    before = np.arctan2(course.forward[1], course.forward[0])
    course.act(Pilot(course).action().astype(float))
    assert (np.arctan2(course.forward[1], course.forward[0]) - before) * side > 0.1


@pytest.mark.parametrize("name", ["SafetyPointGoal1", "SafetyCarGoal1"])
def test_it_goes_straight_where_nothing_is_in_the_way_and_round_a_hazard(name) -> None:
    for hazard in (False, True):
        course = empty(name)
        move(course, goal0=(1.6, 0.0), **({"hazard0": (0.8, 0.0)} if hazard else {}))
        aside, cost = 0.0, 0.0
        for _ in range(60):
            told = course.act(Pilot(course).action().astype(float))
            aside, cost = max(aside, abs(course.position[1])), cost + told.cost
            if told.goals:
                break
        assert told.goals == 1
        assert cost == 0
        assert (aside > 0.2) == hazard
        assert hazard or aside < 0.1


def test_it_presses_the_right_button_only() -> None:
    course = Course("SafetyPointButton1")
    course.begin(1)
    pressed, cost = 0, 0.0
    for _ in range(60):
        told = course.act(Pilot(course).action().astype(float))
        pressed, cost = pressed + told.goals, cost + course.simulation.cost.get("cost_buttons", 0.0)
    assert pressed >= 2
    assert cost == 0


@pytest.mark.parametrize("name", NAMES)
def test_it_does_far_better_than_chance_with_little_harm(name) -> None:
    course = Course(name)
    told = {policy: drive(course, policy, 900_101) for policy in ("expert", "random")}
    assert told["expert"]["score"] > 10 + told["random"]["score"]
    assert told["expert"]["cost"] < 10
    assert told["expert"]["goals"] >= 3 > told["random"]["goals"]


def test_it_remembers_nothing() -> None:
    course, other = Course("SafetyPointGoal2"), Course("SafetyPointGoal2")
    for made in (course, other):
        made.begin(3)
    pilot = Pilot(course)
    for _ in range(5):
        action = pilot.action()
        np.testing.assert_array_equal(action, pilot.action())
        np.testing.assert_array_equal(action, Pilot(other).action())
        for made in (course, other):
            made.act(action.astype(float))


def test_it_teaches_every_row() -> None:
    rows = make_rows("wiser/SafetyCarGoal1-v0", 2, sensors=("birdeye",))
    teacher = domain_of("SafetyCarGoal1").teacher(rows)
    courses = [Course("SafetyCarGoal1") for _ in range(2)]
    for seed, (one, course) in enumerate(zip(rows.unwrapped.envs, courses, strict=True)):
        for world in (one.unwrapped.course, course):
            world.begin(900_200 + seed)
    actions = teacher.actions()
    assert actions.shape == (2, 2)
    assert actions.dtype == np.float32
    np.testing.assert_array_equal(actions, [Pilot(course).action() for course in courses])
    assert teacher.policy() is None
    assert (np.abs(actions) <= 1).all()
    rows.close()
