"""Break sensors of a shipped agent and compare: unguarded, the paper's greedy selection, and the default guard.

Every method drives the same episodes with the same broken sensors, drawn for each episode.
Run: python examples/break_sensors.py --fault lag --broken 5
"""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium
import numpy as np
import tyro

import wiser
import wiser.envs  # registers the environments
import wiser.seeds
from wiser.faults import Scenario, SensorFaults
from wiser.guard import Guard
from wiser.threads import use_threads
from wiser.worldmodel import WorldModel


@dataclass
class Options:
    """What to break."""

    agent: str = "stop-sign/dropout"
    """A shipped agent or a model folder."""
    env: str = "wiser/StopSign-v0"
    """The environment it was trained in."""
    fault: str = "glare"
    """Any fault that `wiser faults` shows."""
    intensity: float = 1.0
    """0 is clean, 1 severe."""
    broken: int = 5
    """How many sensors fail; 0 for none."""
    episodes: int = 64
    """Driven side by side."""
    seed: int = wiser.seeds.EXAMPLES.start
    """Of the first episode."""


def drive(options: Options, agent: WorldModel, method: str) -> np.ndarray:
    """Score of every episode."""
    sensors = tuple(sensor.name for sensor in agent.sensors)
    env = gymnasium.make_vec(options.env, options.episodes, vectorization_mode="vector_entry_point", sensors=sensors)
    if options.broken:
        env = SensorFaults(env, Scenario(faults=options.fault, sensors=options.broken, intensity=options.intensity))
    guard = Guard(agent, method, rows=options.episodes)
    obs, _ = env.reset(seed=options.seed)
    running, score = np.ones(options.episodes, bool), np.zeros(options.episodes)
    while running.any():
        action, _ = guard.act(obs)
        obs, reward, terminated, truncated, _ = env.step(action)
        score += np.where(running, reward, 0.0)
        running &= ~(terminated | truncated)
    return score


def main(options: Options) -> None:
    use_threads()
    agent = wiser.load(options.agent)
    print(f"{options.agent}: {options.broken} of {len(agent.sensors)} sensors broken by {options.fault}")
    for method in ("none", "greedy", "auto"):
        score = drive(options, agent, method)
        half = 1.96 * score.std(ddof=1) / np.sqrt(len(score))
        print(f"{method:11s} score {score.mean():6.1f} ± {half:4.1f} (95 %, {len(score)} episodes)", flush=True)


if __name__ == "__main__":
    main(tyro.cli(Options))
