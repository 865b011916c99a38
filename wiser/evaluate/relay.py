"""Episodes of many trials through the same rows: where one is over, the next one begins, and no row waits.

They are the same episodes, bit for bit, as when each trial is driven by itself: an episode rests on its own seeds and
on nothing that another row, or its own row before, has done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.domain import Rows, domain_of
from wiser.envs.vector import make_rows
from wiser.evaluate.episodes import Tally, completed
from wiser.evaluate.records import Episode
from wiser.evaluate.treatments import Treatment
from wiser.faults import Scenario
from wiser.rollout import Scorebook, Trial, check_fit, step
from wiser.rollout.waves import FEWEST
from wiser.worldmodel.protocol import WorldModel


class Leg(NamedTuple):
    """An episode to be driven: which trial, and the number of the episode in it."""

    trial: int
    number: int


def fits(trial: Trial) -> bool:
    """Whether a trial can share its rows with others: each row has its own scenario, but novelties are of a world."""
    return trial.disturbance is None or isinstance(trial.disturbance, Scenario)


def run_trials(agent: WorldModel, treatment: Treatment, trials: Sequence[Trial]) -> list[list[Episode]]:
    """Drive the episodes of trials that differ in nothing but seeds, scenarios and how many they are; by trial."""
    one, total = trials[0], sum(trial.episodes for trial in trials)
    rows = max(FEWEST, min(total, one.rows or total))
    sensors = tuple(sensor.name for sensor in agent.sensors)
    driven: list[list[Episode]] = [[] for _ in trials]
    with closing(make_rows(one.env, rows, sensors, one.options, one.processes)) as env:
        check_fit(agent, env, one.env)
        for leg, episode in Relay(agent, treatment, trials, env).run():
            driven[leg.trial].append(episode)
    return [completed(sorted(episodes, key=lambda episode: episode.index)) for episodes in driven]


class Relay:
    """The rows of an environment, and which episode each of them is about."""

    def __init__(self, agent: WorldModel, treatment: Treatment, trials: Sequence[Trial], env: Rows) -> None:
        one, rows = trials[0], env.num_envs
        self.trials, self.prepare = trials, treatment.prepare
        self.waiting = iter(
            [Leg(index, number) for index, trial in enumerate(trials) for number in range(trial.episodes)]
        )
        self.legs: list[Leg | None] = [None] * rows
        scenarios = [trial.disturbance for trial in trials if isinstance(trial.disturbance, Scenario)]
        self.nothing = replace(scenarios[0], intensity=0.0) if scenarios else None  # what clean episodes follow
        self.env: Any = self.nothing.apply(env) if self.nothing else env
        self.guard = treatment.guard(agent, one.env, self.env, rows, one.seed)
        self.book = Scorebook(domain_of(one.env), rows, one.limit)
        self.tally = Tally(self.book, self.guard.sensor_names)

    def run(self) -> Iterator[tuple[Leg, Episode]]:
        """Drive until all episodes are over; each is handed out when it is."""
        self.book.running[:] = False
        begins = self._next_legs(np.arange(len(self.legs)))
        obs, info = self.env.reset(seed=self._seeds())
        while self.book.running.any():
            moment, obs = step(self.env, self.guard, obs, info, begins, self.prepare)
            info = moment.info
            self.book.add(moment)
            self.tally.add(moment)
            over = np.flatnonzero(self.book.counted & ~self.book.running)
            for row in over.tolist():
                leg = self._leg(row)
                yield leg, self.tally.finish(row, self.trials[leg.trial], leg.number)
            begins = self._next_legs(over)
            if begins.any():
                obs, info = self.env.reset(seed=self._seeds(), options={"reset_mask": begins})

    def _next_legs(self, over: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Give rows that are over what is waiting; returns the rows that begin (B,). Those left without run idle."""
        begins = np.zeros(len(self.legs), bool)
        for row, leg in zip(over.tolist(), self.waiting, strict=False):
            self.legs[row], begins[row], trial = leg, True, self.trials[leg.trial]
            self.book.restart(row)
            self.guard.draws.restart(row, trial.seed + leg.number)
            if self.nothing:
                self.env.assign(row, trial.disturbance or self.nothing, leg.number)
        return begins

    def _leg(self, row: int) -> Leg:
        leg = self.legs[row]
        assert leg is not None  # rows without one are never counted
        return leg

    def _seeds(self) -> list[int]:
        """Of the environment in each row, as its episode has it."""
        return [self.trials[leg.trial].seed + leg.number if leg else 0 for leg in self.legs]
