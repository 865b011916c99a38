"""Sessions: both sides live the same episode with the same faults, breaking and healing work, all of it repeats."""

import json

import numpy as np
import pytest

from tests import fake_world
from tests.cockpit.cameras import ENV, SENSORS, agent
from wiser.cockpit import Catalogue, Choice, Session
from wiser.cockpit.board import Board
from wiser.cockpit.orders import Orders
from wiser.cockpit.session import command
from wiser.cockpit.simulation import Simulation
from wiser.envs.domain import Measure
from wiser.record.stillness import Stillness, stale_steps

__all__ = ["agent"]

STOP_SIGN = Choice("wiser/StopSign-v0", "stop-sign/dropout", "none", "greedy", seed=3)


@pytest.fixture
def session(agent) -> Session:
    return Session(Choice(ENV, agent))


def run(session: Session, steps: int) -> list:
    return [session.step() for _ in range(steps)]


def readings(step) -> np.ndarray:
    return np.stack([step.readings[sensor.name] for sensor in SENSORS])


def test_both_sides_see_the_same_episode_and_the_same_draws_of_noise(session):
    run(session, 3)
    session.break_sensor("camera", "gaussian", 1.0)
    session.break_sensor("lidar", "salt", 0.7)
    for left, right in run(session, 6):
        np.testing.assert_array_equal(readings(left), readings(right))  # this world ignores what the agent does
        assert left.broken == right.broken
    assert left.broken == {"camera": ("gaussian", 1.0), "lidar": ("salt", 0.7)}


def test_a_break_shows_two_steps_later_and_a_heal_ends_it(session):
    run(session, 2)
    session.break_sensor("camera", "blackout", 1.0)
    assert session.faults == {"camera": ("blackout", 1.0)}
    shown = [bool(left.readings["camera"].any()) for left, _ in run(session, 4)]
    assert shown == [True, False, False, False]  # the observation of the next step had been made already
    session.heal_sensor("camera")
    assert [bool(left.readings["camera"].any()) for left, _ in run(session, 2)] == [False, True]
    assert session.faults == {}


def test_a_sensor_has_one_fault_at_a_time_and_all_can_be_healed(session):
    session.break_sensor("camera", "gaussian", 1.0)
    session.break_sensor("camera", "blackout", 1.0)
    session.break_sensor("radar", "missing", 1.0)
    assert session.faults == {"camera": ("blackout", 1.0), "radar": ("missing", 1.0)}
    left, right = run(session, 2)[-1]
    assert not left.readings["camera"].any()
    assert left.readings["radar"] is None
    assert right.verdict.reasons["radar"] == "missing"
    session.heal_sensor()
    assert session.faults == {}
    assert run(session, 2)[-1][0].broken == {}


def test_it_repeats_exactly_after_a_restart(session):
    def episode() -> list:
        run(session, 2)
        told = session.surprise_me()
        return [told, *[readings(left) for left, _ in run(session, 5) if left.readings["radar"] is not None]]

    first = episode()
    session.restart()
    assert session.faults == {}
    second = episode()
    assert first[0] == second[0]
    np.testing.assert_array_equal(np.array(first[1:]), np.array(second[1:]))


def test_surprises_follow_the_seed_and_leave_a_sensor_alone(agent):
    told = set()
    for seed in range(8):
        session = Session(Choice(ENV, agent, seed=seed))
        told.add(session.surprise_me())
        assert 1 <= len(session.faults) < len(SENSORS)
    assert len(told) > 4


def test_the_end_is_the_end(session):
    steps = run(session, 40)
    assert session.over
    assert None not in steps[-1]
    assert session.step() == (None, None)
    recording = session.recording()
    assert [lane.name for lane in recording.lanes] == ["unguarded", "guarded"]
    assert [lane.method for lane in recording.lanes] == ["none", "greedy"]
    assert [lane.outcome for lane in recording.lanes] == ["out of time"] * 2
    assert [len(lane) for lane in recording.lanes] == [40, 40]
    assert "--left none --right auto --seed 0" in recording.about.command


def test_what_cannot_be_driven_is_refused_and_the_episode_goes_on(session):
    run(session, 3)
    wrong = (("wiser/StopSign-v0", "has no sensor|no sensor called"), ("nobody/Knows-v0", "no environment"))
    for env, message in wrong:
        with pytest.raises(ValueError, match=message):
            session.restart(Choice(env, session.choice.agent))
    with pytest.raises(ValueError, match="no model at"):
        session.restart(Choice(ENV, "nobody/knows"))
    with pytest.raises(ValueError, match="unknown treatment 'best'"):
        Choice(ENV, session.choice.agent, right="best")
    assert session.choice.env == ENV
    run(session, 1)
    assert session.steps == 4


def test_wrong_names_are_refused(session):
    with pytest.raises(ValueError, match="no sensor 'sonar'"):
        session.break_sensor("sonar", "glare")
    with pytest.raises(ValueError, match="'rust' cannot break camera"):
        session.break_sensor("camera", "rust")
    with pytest.raises(ValueError, match="intensity"):
        session.break_sensor("camera", "glare", 0.0)
    assert session.faults == {}


def test_options_are_told_to_the_environment_and_stay_with_it(agent):
    catalogue = Catalogue()
    catalogue.choose(fake_world.ENDLESS, agent, "none", "greedy", 0)
    short = catalogue.choose(ENV, agent, "none", "greedy", 0, env_options={"ends": [[2, "dies"]]})
    simulation = Simulation(Session(short), Board())
    run(simulation.session, 2)
    assert simulation.session.over
    assert command(short).endswith("""--env-options 'ends=[[2, "dies"]]'""")
    for env, kept in ((ENV, short.env_options), (fake_world.ENDLESS, {})):
        Orders(catalogue).read(json.dumps({"do": "choose", "env": env, "agent": agent}))(simulation)
        assert simulation.session.choice.env_options == kept
    simulation.session.close()


@pytest.mark.parametrize("costly", [False, True])
def test_costs_add_up_beside_the_score_where_there_are_some(agent, costly):
    session = Session(Choice(ENV, agent, seed=2, env_options={"costly": costly}))
    for step in range(1, 6):
        session.step()
        paid = sum(fake_world.cost_of(2, 0, place) for place in range(1, step + 1))
        assert [side.measures for side in session.sides] == [{"cost": paid} if costly else {}] * 2
    assert paid == 4.0


@pytest.mark.parametrize(
    ("measure", "followed"),
    [
        (Measure("sum", "less", "cost"), True),
        (Measure("sum", "less", "damage by arrows", detail=True), False),
        (Measure("any", "more", "success"), False),
        (Measure("last", "more", "wood"), False),
    ],
)
def test_what_adds_up_and_is_no_detail_is_followed(measure, followed):
    assert measure.runs == followed


def test_two_sides_alike_have_names_of_their_own(agent):
    assert Session(Choice(ENV, agent, "greedy", "exhaustive")).lanes == ("guarded, left", "guarded, right")


def test_a_frozen_sensor_is_stale_and_a_blank_one_is_not(session):
    session.break_sensor("camera", "freeze", 1.0)
    session.break_sensor("lidar", "blackout", 1.0)
    still = Stillness()
    counts = [dict(still.look(left.readings, left.view)) for left, _ in run(session, 9)]
    assert counts[-1] == {"camera": 7, "lidar": 0, "radar": 0}
    session.heal_sensor("camera")
    counts = [still.look(left.readings, left.view)["camera"] for left, _ in run(session, 2)]
    assert counts == [8, 0]
    recorded = stale_steps(session.recording().lane("unguarded"))
    assert recorded[:, 0].tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0]
    assert not recorded[:, 1:].any()


def test_the_shipped_agent_masks_what_is_broken_and_trusts_it_again():
    session = Session(STOP_SIGN)
    blind = [name for name in session.sensor_names if name != "lidar"]
    run(session, 12)
    for name in blind:
        session.break_sensor(name, "glare", 1.0)
    broken = run(session, 14)[4:]
    for left, right in broken:
        assert left.verdict.trusted_sensors == session.sensor_names  # the unguarded side believes everything
        assert right.verdict.trusted_sensors == ("lidar",)
        assert left.verdict.surprise > 3 * right.verdict.surprise
    session.heal_sensor()
    healed = [set(right.verdict.trusted_sensors) - {"lidar"} for _, right in run(session, 15)]
    assert any(healed)
