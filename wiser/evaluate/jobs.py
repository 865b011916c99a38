"""How one cell of a sweep is run."""

from __future__ import annotations

import json
import time

from wiser import seeds
from wiser.envs.domain import find_task
from wiser.evaluate.contenders import find_agent
from wiser.evaluate.episodes import run_episodes
from wiser.evaluate.plan import SEEDS_APART, Job, disturbance_of
from wiser.evaluate.records import Episode
from wiser.rollout import Trial

ROWS = 32
"""Environments side by side: enough for a batch to pay, and few enough for a heavy simulator's memory."""


def run_job(job: Job) -> tuple[list[Episode], float]:
    """Drive all episodes of a cell; returns them and the seconds it took."""
    began, cell = time.perf_counter(), job.cell
    trial = Trial(
        find_task(cell.task).env,
        cell.episodes,
        seeds.SWEEPS[cell.seed * SEEDS_APART],
        disturbance_of(cell),
        json.loads(cell.options) if cell.options else {},
        ROWS,
        processes=job.processes,
    )
    episodes = run_episodes(find_agent(job.agent), job.treatment, trial)
    return episodes, time.perf_counter() - began
