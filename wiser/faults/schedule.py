"""Which sensors are broken at which steps of one episode of one row, and where its random numbers come from."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from wiser.faults.scenario import Scenario


def generator(seed: int, row: int, episode: int, purpose: str) -> np.random.Generator:
    """The random numbers for one purpose in one episode of one row; independent of all others, in any order of use."""
    source = np.random.SeedSequence(seed, spawn_key=(row, episode, crc32(purpose.encode())))
    return np.random.Generator(np.random.SFC64(source))


class Schedule:
    """Fixed by scenario, row and episode alone: neither the batch nor what the agent does changes it."""

    def __init__(self, scenario: Scenario, candidates: Sequence[str], row: int, episode: int) -> None:
        """`candidates` are the sensors to draw from where the scenario gives a number of them."""
        self._scenario = scenario
        self.sensors: tuple[str, ...]
        if isinstance(scenario.sensors, int):
            drawn = generator(scenario.seed, row, episode, "sensors").permutation(len(candidates))[: scenario.sensors]
            ordered = sorted(candidates)
            self.sensors = tuple(sorted(ordered[index] for index in drawn))
        else:
            self.sensors = scenario.sensors
        self._rng = generator(scenario.seed, row, episode, "steps")
        self._draws = np.empty(0)

    def active(self, step: int) -> bool:
        """Whether the sensors are broken at this step."""
        plan = self._scenario
        if step < plan.onset:
            return False
        if plan.proportion == 1:
            return True
        if plan.schedule == "contiguous":
            assert plan.horizon is not None  # checked by Scenario
            return step < plan.onset + round(plan.proportion * (plan.horizon - plan.onset))
        while step >= len(self._draws):
            self._draws = np.append(self._draws, self._rng.random(256))
        return bool(self._draws[step] < plan.proportion)
