"""Closed-loop episodes: all of them side by side as one batch, one guard, one environment.

Every row drives exactly one episode. Row i has the environment's seed `seed + i` and the fault draws of row i, whatever
the method, so that two methods can be compared episode by episode. A fixed number of episodes is unbiased where a
fixed number of steps is not: episodes that end early would be counted more often.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.domain import Domain, domain_of
from wiser.envs.vector import make_rows
from wiser.evaluate.methods import Method
from wiser.evaluate.records import Episode
from wiser.evaluate.tally import DetectionTally
from wiser.faults import Scenario, SensorFaults
from wiser.guard import Mode, Verdict
from wiser.worldmodel.protocol import Belief, WorldModel


@dataclass(frozen=True)
class Trial:
    """What is driven: episodes `seed`, `seed + 1`, ... of an environment, broken as the scenario says or clean."""

    env: str
    episodes: int
    seed: int
    scenario: Scenario | None = None


class Moment(NamedTuple):
    """One step of all rows, for those who watch."""

    obs: Mapping[str, Any]
    """What the guard was given."""
    verdict: Verdict
    """What it made of it."""
    belief: Belief
    """What it then believed."""
    broken: NDArray[np.bool_]
    """(B, N): the truth."""
    reward: NDArray[Any]
    """(B,): what the action earned."""
    running: NDArray[np.bool_]
    """(B,): rows whose episode goes on."""
    truncated: NDArray[np.bool_]
    """(B,): rows whose episode was cut off at this step."""
    info: Mapping[str, Any]
    """What the environment said after the action."""
    domain: Domain
    """What kind of environment it is."""

    def outcome(self, row: int) -> str:
        """How the episode of a row ended, in a word."""
        flags = {name: self.info[name][row] for name in self.domain.endings if name in self.info}
        return self.domain.ending(flags, bool(self.truncated[row]))


def rollout(
    agent: WorldModel, method: Method, trial: Trial, watch: Callable[[Moment], None] | None = None
) -> list[Episode]:
    """Drive all episodes of a trial to their ends; `watch` is shown every step."""
    env, columns = _make(agent, trial)
    domain = domain_of(trial.env)
    guard = method.guard(agent, trial.episodes, trial.seed)
    tally = Tally(trial, agent)
    obs, info = env.reset(seed=trial.seed)
    while tally.running.any():
        broken = info.get("broken_sensors", np.zeros((trial.episodes, len(columns)), bool))[:, columns]  # (B, N)
        seen = method.prepare(obs)
        action, verdict = guard.act(seen)
        tally.see(verdict, broken)
        obs, reward, terminated, truncated, info = env.step(action)
        tally.score(reward, terminated | truncated, info)
        if watch is not None:
            watch(Moment(seen, verdict, guard.belief, broken, reward, tally.running.copy(), truncated, info, domain))
    env.close()
    return tally.episodes()


def _make(agent: WorldModel, trial: Trial) -> tuple[Any, list[int]]:
    """The environment, and where the agent's sensors are among the wrapper's columns."""
    names = [sensor.name for sensor in agent.sensors]
    env: Any = make_rows(trial.env, trial.episodes, names)
    if trial.scenario is None:
        return env, list(range(len(names)))
    env = SensorFaults(env, trial.scenario)
    return env, [env.sensor_names.index(name) for name in names]


class Tally:
    """What happened in each row so far. Rows that have ended are no longer counted."""

    def __init__(self, trial: Trial, agent: WorldModel) -> None:
        rows, self.trial, self.names = trial.episodes, trial, tuple(sensor.name for sensor in agent.sensors)
        self.running = np.ones(rows, bool)
        self.total, self.cost = np.zeros(rows), np.zeros(rows)
        self.steps = np.zeros(rows, np.int64)
        self.success, self.collision = np.zeros(rows, bool), np.zeros(rows, bool)
        self.ever_broken = np.zeros((rows, len(self.names)), bool)
        self.modes = np.zeros((rows, len(Mode)), np.int64)
        self.detection = DetectionTally(rows, self.names)
        self.seconds = np.zeros(rows)
        self.began = time.perf_counter()

    def see(self, verdict: Verdict, broken: NDArray[np.bool_]) -> None:
        """Count a step's verdict against what is really broken (B, N)."""
        self.ever_broken |= broken & self.running[:, None]
        self.modes[np.arange(len(broken)), verdict.mode] += self.running
        self.detection.add(broken, verdict.trusted, verdict.surprise, sensor_scores(verdict), self.running)

    def score(self, reward: NDArray[Any], done: NDArray[np.bool_], info: dict[str, Any]) -> None:
        """Count what the step brought; rows that are done end here."""
        nothing = np.zeros(len(reward))
        self.total += np.where(self.running, reward, 0.0)
        self.cost += np.where(self.running, np.asarray(info.get("cost", nothing), float), 0.0)
        self.steps += self.running
        for name, happened in (("success", self.success), ("collision", self.collision)):
            happened |= self.running & np.asarray(info.get(name, nothing), bool)
        self.running &= ~done
        self.seconds[done & (self.seconds == 0)] = time.perf_counter() - self.began

    def episodes(self) -> list[Episode]:
        """One record per row."""
        shares = self.modes / self.steps[:, None]
        return [
            Episode(
                index=row,
                env_seed=self.trial.seed + row,
                fault_seed=self.trial.scenario.seed if self.trial.scenario else 0,
                failed=tuple(name for name, hit in zip(self.names, self.ever_broken[row], strict=True) if hit),
                score=float(self.total[row]),
                length=int(self.steps[row]),
                cost=float(self.cost[row]),
                success=bool(self.success[row]),
                collision=bool(self.collision[row]),
                complete=True,
                grounded=float(shares[row, Mode.GROUNDED]),
                denoised=float(shares[row, Mode.DENOISED]),
                predictive=float(shares[row, Mode.PREDICTIVE]),
                fallback=float(shares[row, Mode.FALLBACK]),
                detection=self.detection.finish(row),
                seconds=float(self.seconds[row]),
            )
            for row in range(len(self.total))
        ]


def sensor_scores(verdict: Verdict) -> NDArray[Any]:
    """The per-sensor score of a verdict (B, N), NaN where there is none.

    Greedy selection has the surprise of each sensor alone; rejection has M of its one sensor.
    """
    if "isolated_surprise" in verdict.scores:
        return np.asarray(verdict.scores["isolated_surprise"])
    if "score" in verdict.scores:
        return np.broadcast_to(np.asarray(verdict.scores["score"])[:, None], verdict.trusted.shape)
    return np.full(verdict.trusted.shape, np.nan)
