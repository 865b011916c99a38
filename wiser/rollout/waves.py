"""The episodes of a trial, all side by side or wave after wave; they are the same ones, bit for bit, either way.

Row i of a trial has the environment's seed `seed + i`, the guard's draws of that seed and the disturbance's draws of
row i, whoever drives, so that contenders can be compared episode by episode. A fixed number of episodes is unbiased
where a fixed number of steps is not: episodes that end early would be counted more often.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass

from wiser.envs.domain import Rows, domain_of
from wiser.guard import Guard
from wiser.rollout.fit import check_fit
from wiser.rollout.loop import Moment, Prepare, drive
from wiser.rollout.scorebook import Scorebook
from wiser.rollout.trial import Trial
from wiser.worldmodel.protocol import WorldModel

FEWEST = 8
"""Rows of a wave, where there are more episodes: products of very few rows are rounded differently."""

MakeGuard = Callable[[Rows, int, int], Guard]
"""(environments, rows, seed of the first) -> guard."""


@dataclass(frozen=True)
class Wave:
    """Some of the episodes of a trial, about to be driven."""

    start: int
    """Number of the first of them in the trial."""
    episodes: int
    """How many of the rows are episodes of the trial; the others only fill the wave."""
    book: Scorebook
    moments: Iterator[Moment]
    """Until all of these episodes are over; each moment is in the book already."""


def waves(
    trial: Trial,
    agent: WorldModel,
    guard: MakeGuard,
    prepare: Prepare | None = None,
    watched: Collection[int] = (),
) -> Iterator[Wave]:
    """Drive the episodes of a trial. Walk along the moments of each wave before asking for the next one.

    Moments have pictures of the episodes in `watched`, by their row in the wave.
    """
    rows = min(trial.episodes, max(FEWEST, trial.rows or trial.episodes))
    domain, sensors = domain_of(trial.env), tuple(sensor.name for sensor in agent.sensors)
    for start in range(0, trial.episodes, rows):
        count, seed = min(rows, trial.episodes - start), trial.seed + start
        seen = [episode - start for episode in watched if start <= episode < start + count]
        with closing(trial.make(rows, start, sensors, pictures=bool(seen))) as env:
            check_fit(agent, env, trial.env)
            book = Scorebook(domain, rows, trial.limit)
            book.running[count:] = False
            views = {row: domain.view(env, row) for row in seen}
            loop = drive(env, guard(env, rows, seed), seed, prepare, views)
            yield Wave(start, count, book, _moments(loop, book))


def _moments(loop: Iterator[Moment], book: Scorebook) -> Iterator[Moment]:
    while book.running.any():
        moment = next(loop)
        book.add(moment)
        yield moment
