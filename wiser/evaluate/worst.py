"""What hurts a guarded agent most: a search over everything a scenario can say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from wiser.faults import Scenario

INTENSITIES = (0.25, 0.5, 0.75, 1.0)
DURATIONS = (0.25, 0.5, 0.75, 1.0)
"""Shares of the rest of an episode that sensors are broken for, in one piece."""
CHANGES = ("fault", "sensors", "onset", "intensity", "duration")


@dataclass(frozen=True)
class Space:
    """What may break, how and when."""

    sensors: tuple[str, ...]
    """By name."""
    most: int
    """How many of them break at most: whoever has none left to trust has nothing to choose."""
    faults: tuple[str, ...]
    length: int
    """Steps of a usual episode; faults begin in its first three quarters."""

    def draw(self, rng: np.random.Generator) -> Scenario:
        """Anything."""
        onset = self._onset(rng)
        return Scenario(
            faults=(str(rng.choice(self.faults)),), sensors=self._some(rng), onset=onset,
            intensity=float(rng.choice(INTENSITIES)), proportion=float(rng.choice(DURATIONS)), schedule="contiguous",
            horizon=self.length,
        )  # fmt: skip

    def vary(self, scenario: Scenario, rng: np.random.Generator) -> Scenario:
        """The same but for one thing."""
        change = rng.choice(CHANGES)
        if change == "fault":
            return replace(scenario, faults=(str(rng.choice(self.faults)),))
        if change == "sensors":
            return replace(scenario, sensors=self._other(scenario, rng))
        if change == "onset":
            return replace(scenario, onset=self._onset(rng))
        if change == "intensity":
            return replace(scenario, intensity=float(rng.choice(INTENSITIES)))
        return replace(scenario, proportion=float(rng.choice(DURATIONS)))

    def _onset(self, rng: np.random.Generator) -> int:
        """The first step as often as any other: no belief has formed there."""
        return 0 if rng.random() < 0.5 else int(rng.integers(1, max(2, 3 * self.length // 4)))

    def _some(self, rng: np.random.Generator) -> tuple[str, ...]:
        count = int(rng.integers(1, self.most + 1))
        return self._ordered(rng.choice(self.sensors, count, replace=False).tolist())

    def _other(self, scenario: Scenario, rng: np.random.Generator) -> tuple[str, ...]:
        """One more, one less, or another one."""
        assert isinstance(scenario.sensors, tuple)
        broken, sound = list(scenario.sensors), [name for name in self.sensors if name not in scenario.sensors]
        less, more = len(broken) > 1 and rng.random() < 0.5, len(broken) < self.most and rng.random() < 0.5
        if less or not more:
            broken.remove(str(rng.choice(broken)))
        if sound and (more or not less):
            broken.append(str(rng.choice(sound)))
        return self._ordered(broken or scenario.sensors)

    def _ordered(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in self.sensors if name in set(names))


class Tried(NamedTuple):
    """A scenario and the mean score under it."""

    scenario: Scenario
    score: float


def search(score: Callable[[Scenario], float], space: Space, tries: int, rng: np.random.Generator) -> Iterator[Tried]:
    """Every scenario that was tried: half of them anywhere, the others next to the worst one so far."""
    worst: Tried | None = None
    for number in range(tries):
        scenario = space.draw(rng) if worst is None or number < tries // 2 else space.vary(worst.scenario, rng)
        found = Tried(scenario, score(scenario))
        worst = found if worst is None or found.score < worst.score else worst
        yield found
