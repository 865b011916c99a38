"""How the cells of a sweep are run: those that can share their rows together."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from wiser import seeds
from wiser.envs.domain import find_task
from wiser.evaluate.contenders import find_agent
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.plan import SEEDS_APART, Job, disturbance_of
from wiser.evaluate.records import Cell, Episode
from wiser.evaluate.relay import fits, run_trials
from wiser.rollout import Trial

Finished = tuple[Cell, list[Episode], float]
"""A cell, its episodes, and the seconds they took."""

ROWS = 32
"""Environments side by side: enough for a batch to pay, and few enough for a heavy simulator's memory."""

TOGETHER = 4 * ROWS
"""Episodes that are driven together: enough to keep the rows busy, few enough for little to be lost with a process."""


def together(jobs: Sequence[Job], workers: int) -> list[list[Job]]:
    """Put neighbours that differ in what is wrong only into groups, not larger than leaves every worker some."""
    most = min(TOGETHER, max(1, sum(job.cell.episodes for job in jobs) // workers))
    groups: list[list[Job]] = []
    for _, alike in groupby(jobs, key=_kind):
        room = 0
        for job in alike:
            if room < job.cell.episodes:
                groups.append([])
                room = most
            groups[-1].append(job)
            room -= job.cell.episodes
    return groups


def run_jobs(jobs: Sequence[Job]) -> list[Finished]:
    """Drive all episodes of the cells of a group."""
    began, agent, one = time.perf_counter(), find_agent(jobs[0].agent), jobs[0]
    trials = [_trial(job) for job in jobs]
    if fits(trials[0]):
        driven = run_trials(agent, one.treatment, trials)
    else:
        driven = [run_episodes(agent, one.treatment, trial) for trial in trials]
    seconds, steps = time.perf_counter() - began, [sum(episode.length for episode in own) for own in driven]
    return [
        (job.cell, own, seconds * share / max(1, sum(steps)))
        for job, own, share in zip(jobs, driven, steps, strict=True)
    ]


def _kind(job: Job) -> Any:
    cell = job.cell
    return cell.task, job.agent, cell.treatment, cell.options, job.processes, fits(_trial(job)) or cell.key


def _trial(job: Job) -> Trial:
    cell = job.cell
    return Trial(
        find_task(cell.task).env,
        cell.episodes,
        seeds.SWEEPS[cell.seed * SEEDS_APART],
        disturbance_of(cell),
        json.loads(cell.options) if cell.options else {},
        ROWS,
        processes=job.processes,
    )
