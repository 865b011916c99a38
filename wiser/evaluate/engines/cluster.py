"""A Ray cluster; needs the extra `ray`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wiser.evaluate.engines import Finished
from wiser.evaluate.engines.local import use_one_thread
from wiser.evaluate.jobs import run_job
from wiser.evaluate.plan import Job
from wiser.evaluate.records import Cell, Episode
from wiser.extras import install_hint


@dataclass(frozen=True)
class RayEngine:
    """Cells as tasks of one core each, wherever the cluster has room."""

    workers: int = 1
    """How many cells may be under way at once."""
    address: str | None = None
    """Of a running cluster; None starts one on this machine with that many cores."""

    def run(self, jobs: Sequence[Job]) -> Iterator[Finished]:
        """Run all jobs."""
        try:
            import ray
        except ImportError as error:
            raise RuntimeError(f"this engine needs Ray: {install_hint('ray')}") from error
        started = not ray.is_initialized()
        if started:
            cores = None if self.address else self.workers
            ray.init(address=self.address, num_cpus=cores, include_dashboard=False, log_to_driver=False)
        remote = ray.remote(num_cpus=1)(run_alone)
        waiting = list(reversed(jobs))
        running: dict[Any, Cell] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    job = waiting.pop()
                    running[remote.remote(job)] = job.cell
                (done,), _ = ray.wait(list(running), num_returns=1)
                episodes, seconds = ray.get(done)
                yield running.pop(done), episodes, seconds
        finally:
            for reference in running:
                ray.cancel(reference, force=True)
            if started:
                ray.shutdown()


def run_alone(job: Job) -> tuple[list[Episode], float]:
    """Run a cell on one thread."""
    use_one_thread()
    return run_job(job)
