"""The cockpit begins a session in one thread and drives it in another: there are pictures in both, and costs."""

from collections.abc import Callable

import gymnasium as gym
import numpy as np
import pytest

from tests.envs.safety.courses import needs_gl, place
from tests.tiny import model
from wiser.cockpit import Choice, Session
from wiser.cockpit.board import Board, Place, unpack
from wiser.cockpit.simulation import Simulation
from wiser.envs.safety.course import Course, Passage
from wiser.envs.safety.names import SENSORS
from wiser.worldmodel.protocol import Actions, Sensor
from wiser.worldmodel.store import save

pytestmark = needs_gl
STEPS = 4


@pytest.fixture(scope="module")
def agent(tmp_path_factory) -> str:
    sensors = tuple(Sensor(name, (64, 64, 3)) for name in SENSORS)
    actions = Actions.from_space(gym.spaces.Box(-1.0, 1.0, (2,), np.float32))
    return str(save(model(sensors, actions), tmp_path_factory.mktemp("agents") / "tiny"))


@pytest.fixture
def simulation(agent):
    session = Session(Choice("wiser/SafetyPointGoal1-v0", agent, "none", "greedy", seed=1))
    made = Simulation(session, Board())
    made.paused = True
    made.start()
    yield made
    made.stop()


def told(simulation: Simulation) -> list:
    """All steps so far, each with the facts of both sides."""
    messages = simulation.board.news(Place())
    return unpack(messages[-1])[0]["steps"]


def test_both_sides_drive_and_see(simulation) -> None:
    for _ in range(STEPS):
        simulation.ask(Simulation.step).result()
    steps = told(simulation)
    assert len(steps) == STEPS + 1, "the first one is shown at once"
    assert simulation.told == ""
    for lane in simulation.session.recording().lanes:
        assert lane.view.std() > 10
        for name in SENSORS:
            assert lane.readings[name].std() > 10
            assert (lane.readings[name][0] != lane.readings[name][-1]).any()
    assert [side.measures.keys() for side in simulation.session.sides] == [{"cost", "goals"}] * 2


def test_costs_run_on_beside_the_score(simulation, monkeypatch) -> None:
    """Into a hazard, for three steps of which the package counts all five repeats."""
    for side in simulation.session.sides:
        course = side.env.unwrapped.envs[0].unwrapped.course
        hazard = course.task.hazards.pos[0]
        monkeypatch.setattr(course, "act", into(course, hazard))
    for _ in range(3):
        simulation.ask(Simulation.step).result()
    costs = [[lane["measures"]["cost"] for lane in step] for step in told(simulation)]
    assert costs == [[costs[0][0]] * 2, *([costs[0][0] + 5.0 * n] * 2 for n in (1, 2, 3))]


def into(course: Course, hazard: np.ndarray) -> Callable[[np.ndarray], Passage]:
    """Put the robot there before every action."""
    act = course.act

    def act_there(action: np.ndarray) -> Passage:
        place(course, hazard[0], hazard[1] - 0.05, 0.1)
        return act(0 * action)

    return act_there


def test_it_begins_again_where_it_is_driven(simulation) -> None:
    simulation.ask(Simulation.step).result()
    first = simulation.session.recording().lanes[0].readings["birdeye"]
    simulation.ask(Simulation.restart).result()
    simulation.ask(Simulation.step).result()
    np.testing.assert_array_equal(simulation.session.recording().lanes[0].readings["birdeye"], first)
