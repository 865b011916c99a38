"""Agents that come with the library: they load by name, their calibration is theirs, they drive as their cards say."""

import re

import gymnasium
import numpy as np
import pytest

import wiser
import wiser.envs
from wiser import seeds
from wiser.envs.domain import find_task
from wiser.guard import Guard, Mode, Rejection
from wiser.guard.calibration import beside
from wiser.worldmodel.store import SHIPPED

NAMES = sorted(card.parent.relative_to(SHIPPED).as_posix() for card in SHIPPED.glob("*/*/README.md"))
TASKS = {"stop-sign": "StopSign", "right-turn": "RightTurn", "four-lane": "FourLane"}
EPISODES = 8


def on_the_card(name: str) -> tuple[float, float]:
    """Clean score, and the same on the expert's scale."""
    text = (SHIPPED / name / "README.md").read_text()
    found = (
        re.search(pattern, text) for pattern in (r"clean score \| (-?[\d.]+) ±", r"expert-normalised \| ([\d.]+) ")
    )
    score, normalised = (float(match[1]) for match in found)
    return score, normalised


def test_there_is_an_agent_of_every_variant_for_every_task() -> None:
    expected = {f"{task}/{kind}" for task in TASKS for kind in ("augmented", "base", "dropout", "hrssm", "single")}
    assert set(NAMES) == expected


@pytest.mark.parametrize("name", NAMES)
def test_shipped_agent_drives_on_clean_sensors_as_its_card_says(name: str) -> None:
    """Eight episodes nobody used before.

    Crashes are rare but cost a whole episode, so that a mean of eight says little: three in four episodes must come
    within a twentieth of the card's mean, and their mean may not be far from it.
    """
    agent, task = wiser.load(name), TASKS[name.split("/")[0]]
    env = gymnasium.make_vec(f"wiser/{task}-v0", EPISODES, vectorization_mode="vector_entry_point")
    guard = Guard(agent, "none", rows=EPISODES)
    obs, _ = env.reset(seed=seeds.TRYING.start)
    running, score = np.ones(EPISODES, bool), np.zeros(EPISODES)
    while running.any():
        action, verdict = guard.act(obs)
        assert (verdict.mode == Mode.GROUNDED).all()
        obs, reward, terminated, truncated, _ = env.step(action)
        score += np.where(running, reward, 0.0)
        running &= ~(terminated | truncated)
    card, normalised = on_the_card(name)
    assert np.mean(score > 0.95 * card) >= 0.75, score
    assert 0.8 * card < score.mean() < 1.1 * card, score
    assert find_task(task).normalise(card) == pytest.approx(normalised, abs=0.006)
    assert normalised >= (0.7 if name.endswith("hrssm") else 0.95)


@pytest.mark.parametrize("name", NAMES)
def test_calibration_belongs_to_the_weights(name: str) -> None:
    agent = wiser.load(name)
    calibration = beside(agent.folder, agent.digest)
    assert calibration is not None
    assert calibration.weights == agent.digest
    guard = Guard(agent, Rejection() if agent.decodes else "predict")
    assert all(float(tau.whole.min()) > 0 for _, tau in guard.sitting.tests)
