"""Agents that come with the library: they load by name, their calibration is theirs, and they drive."""

import gymnasium
import pytest

import wiser
import wiser.envs
from wiser.envs.driving.scores import normalised_score
from wiser.guard import Guard, Mode, Rejection
from wiser.guard.calibration import beside
from wiser.worldmodel.store import SHIPPED

NAMES = sorted(card.parent.relative_to(SHIPPED).as_posix() for card in SHIPPED.glob("*/*/README.md"))
TASKS = {"stop-sign": "StopSign", "right-turn": "RightTurn", "four-lane": "FourLane"}


@pytest.mark.parametrize("name", NAMES)
def test_shipped_agent_drives_on_clean_sensors(name: str) -> None:
    """Eight held-out episodes: far better than a random policy; the card has the exact figure from a hundred."""
    agent = wiser.load(name)
    task = TASKS[name.split("/")[0]]
    env = gymnasium.make_vec(f"wiser/{task}-v0", 8, vectorization_mode="vector_entry_point")
    guard = Guard(agent, "none", rows=8)
    obs, _ = env.reset(seed=5_000_000)
    running, score = [True] * 8, [0.0] * 8
    while any(running):
        action, verdict = guard.act(obs)
        assert (verdict.mode == Mode.GROUNDED).all()
        obs, reward, terminated, truncated, _ = env.step(action)
        score = [s + r * on for s, r, on in zip(score, reward, running, strict=True)]
        running = [on and not end for on, end in zip(running, terminated | truncated, strict=True)]
    assert normalised_score(task, sum(score) / 8) > 0.6


@pytest.mark.parametrize("name", NAMES)
def test_calibration_belongs_to_the_weights(name: str) -> None:
    agent = wiser.load(name)
    calibration = beside(agent.folder, agent.digest)
    assert calibration is not None
    assert calibration.weights == agent.digest
    assert Guard(agent, "none", Rejection()).rejector.tau > 0
