"""One small world for all tests, in any form an environment can have.

As a vector with an expert, a safe action and a novelty, or single and unknown to the house; discrete or continuous;
with a cost; long; with one sensor or many, or a single Box; with a picture. `World` has an option for each. In one of
them agents sample their actions when they are evaluated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from tests.fake_world.novelty import Dusk
from tests.fake_world.sensors import DRIFTING, NOISY, PLAIN
from tests.fake_world.world import LONG, OPEN, World, Worlds, cost_of, expert_of, reward_of
from wiser.envs.domain import Domain, Task, register
from wiser.worldmodel.protocol import Actions, Sensor, sensors_of

__all__ = ["DRIFTING", "NOISY", "OPEN", "PLAIN", "World", "Worlds", "cost_of", "expert_of", "reward_of"]

VECTOR, CONTINUOUS = "tests/Vector-v0", "tests/Continuous-v0"
LASTING, NEVER_THE_SAME, SAME_STEP = "tests/Lasting-v0", "tests/NeverTheSame-v0", "tests/SameStep-v0"
STAGGERED, SAMPLED = "tests/Staggered-v0", "tests/Sampled-v0"
DESCRIBED: dict[str, dict[str, Any]] = {
    VECTOR: {},
    CONTINUOUS: {"continuous": True},
    LASTING: {"ends": LONG},
    NEVER_THE_SAME: {"repeats": False},
    STAGGERED: {"staggered": True},
    SAME_STEP: {"mode": AutoresetMode.SAME_STEP},
}
"""Vector environments with an expert, a safe action and a novelty, and what each differs in."""

SINGLE, CAMERAS, ENDLESS, NOISE = "tests/Single-v0", "tests/Cameras-v0", "tests/Endless-v0", "tests/Noise-v0"
UNDESCRIBED: dict[str, dict[str, Any]] = {
    SINGLE: {},
    CAMERAS: {"sensors": DRIFTING, "ends": ((40, "runs out"),)},
    ENDLESS: {"sensors": DRIFTING, "ends": ((10**9, "dies"),)},
    NOISE: {"sensors": NOISY, "ends": ((9, "dies"),)},
}
"""Single environments that no domain knows."""


class Expert:
    """What the worlds of a batch would have one do."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds

    def actions(self) -> NDArray[Any]:
        return np.stack([world.unwrapped.expert() for world in self.worlds.envs])

    def policy(self) -> None:
        return None


_DOMAIN = Domain(
    tuple(Task(name, name, name) for name in DESCRIBED),
    teacher=lambda env: Expert(env.unwrapped),
    novelties={Dusk.name: Dusk},
    fallback=lambda env, space: space.start if isinstance(space, gym.spaces.Discrete) else space.low,
)
register(_DOMAIN)
register(replace(_DOMAIN, tasks=(Task(SAMPLED, SAMPLED, SAMPLED),), sample_actions=True))
gym.register(SAMPLED, vector_entry_point="tests.fake_world:Worlds", kwargs={"staggered": True})
for name, kwargs in DESCRIBED.items():
    gym.register(name, vector_entry_point="tests.fake_world:Worlds", kwargs=kwargs)
for name, kwargs in UNDESCRIBED.items():
    gym.register(name, "tests.fake_world:World", kwargs=kwargs, disable_env_checker=True)


def described(**options: Any) -> tuple[tuple[Sensor, ...], Actions]:
    """Sensors and actions of a world with these options, as a model knows them."""
    world = World(**options)
    world.close()
    return sensors_of(world.observation_space), Actions.from_space(world.action_space)
