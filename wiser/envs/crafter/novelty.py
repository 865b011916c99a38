"""A novelty as a disturbance: which look the world has at which steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gymnasium.vector import VectorWrapper

from wiser import seeds
from wiser.envs.crafter.names import NOVELTIES, SENSORS
from wiser.envs.domain import Rows


@dataclass(frozen=True)
class Novelty:
    """Something new from step `onset` of every episode on, at `proportion` of the steps."""

    name: str
    """One of `NOVELTIES`."""
    intensity: float = 1.0
    """How much of it; what that means is said where the look is (`looks.py`)."""
    proportion: float = 1.0
    onset: int = 0
    seed: int = 0
    row: int = 0
    """Of the environment among those that run side by side; each draws its own numbers."""

    def __post_init__(self) -> None:
        if self.name not in NOVELTIES:
            raise ValueError(f"no novelty {self.name!r}; there are {', '.join(NOVELTIES)}")
        for name in ("intensity", "proportion"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} of a novelty is from 0 to 1, got {getattr(self, name)}")
        if self.onset < 0:
            raise ValueError(f"a novelty begins at step 0 or later, got onset {self.onset}")

    def apply(self, env: Rows, row: int) -> Rows:
        """Bring it to all rows, the first of which is the `row`-th of a trial."""
        return Changed(env, self, row)

    def dice(self, purpose: str, episode: int) -> Any:
        """Random numbers of an episode."""
        return seeds.generator(f"novelty {purpose}", self.seed, self.row, episode)


class Changed(VectorWrapper[Any, Any, Any, Any, Any]):
    """Worlds with something new in them. Their `info` says which representations it shows in."""

    sensor_names = SENSORS

    def __init__(self, env: Rows, novelty: Novelty, row: int) -> None:
        super().__init__(env)
        made: Any = env.unwrapped
        made.set_attr("novelty", [replace(novelty, row=row + i) for i in range(env.num_envs)])
