"""One side of the cockpit: a guarded agent in a world of its own, whose sensors can be broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wiser.envs.domain import domain_of
from wiser.evaluate.treatments import Treatment
from wiser.faults import Scenario
from wiser.record import Recorder
from wiser.record.step import Step
from wiser.rollout import Moment, Scorebook, Trial, check_fit, drive
from wiser.worldmodel.protocol import WorldModel


class Side:
    """Steps one copy of the episode. Sides with the same seed and the same clicks see the same faults, draw by draw."""

    def __init__(
        self, agent: WorldModel, env: str, treatment: Treatment, seed: int, options: Mapping[str, Any]
    ) -> None:
        self.agent, domain = agent, domain_of(env)
        unbroken = Scenario(faults=("missing",), sensors=1, intensity=0.0, seed=seed)
        trial = Trial(env, 1, seed, unbroken, options)
        self.env: Any = trial.make(1, 0, [sensor.name for sensor in agent.sensors], pictures=True)
        check_fit(agent, self.env, env)
        self.book = Scorebook(domain, 1, trial.limit)
        self.faults: dict[str, tuple[str, float]] = {}
        guard = treatment.guard(agent, env, self.env, 1, seed)
        views = {0: domain.view(self.env, 0)}
        self._loop: Iterator[Moment] = drive(self.env, guard, seed, treatment.prepare, views)
        self._shown: dict[str, tuple[str, float]] = {}  # what was switched on when the observation at hand was made

    @property
    def outcome(self) -> str:
        """How the episode ended; empty while it runs."""
        return self.book.outcome[0]

    @property
    def measures(self) -> dict[str, float]:
        """What has added up so far besides the score, by its title."""
        declared = self.book.domain.measures
        so_far = self.book.result(0).measures
        return {declared[name].title: value for name, value in so_far.items() if declared[name].runs}

    def step(self, recorder: Recorder, lane: str) -> Step:
        """Look, judge, act; all of it goes into the recorder's lane."""
        moment = next(self._loop)
        self.book.add(moment)
        hit = zip(moment.verdict.sensors, moment.broken[0], strict=True)
        broken = {name: self._shown[name] for name, broken in hit if broken and name in self._shown}
        self._shown = dict(self.faults)
        return recorder.add(
            lane, moment.obs, moment.verdict, row=0, reward=moment.reward, broken=broken,
            prediction=self.agent.decode(moment.belief) if self.agent.decodes else None,
            view=moment.pictures[0], outcome=self.outcome,
        )  # fmt: skip

    def break_sensor(self, name: str, fault: str, intensity: float) -> None:
        """Break a sensor in this way and no other, from the next observation on."""
        self.heal_sensor(name)
        self.env.break_sensor(name, fault, intensity)
        self.faults[name] = (fault, intensity)

    def heal_sensor(self, name: str) -> None:
        """Let a sensor work again, from the next observation on."""
        self.env.heal_sensor(name)
        self.faults.pop(name, None)

    def close(self) -> None:
        """Let go of what the simulator holds."""
        self.env.close()
