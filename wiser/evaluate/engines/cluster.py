"""A Ray cluster; needs the extra `ray`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wiser.evaluate.engines.local import use_one_thread
from wiser.evaluate.jobs import Finished, run_jobs, together
from wiser.evaluate.plan import Job
from wiser.extras import install_hint


@dataclass(frozen=True)
class RayEngine:
    """Groups of cells as tasks of one core each, wherever the cluster has room."""

    workers: int = 1
    """How many groups may be under way at once."""
    address: str | None = None
    """Of a running cluster; None starts one on this machine with that many cores."""

    def __post_init__(self) -> None:
        try:
            import ray  # noqa: F401
        except ImportError as error:
            raise RuntimeError(f"this engine needs Ray: {install_hint('ray')}") from error

    def run(self, jobs: Sequence[Job]) -> Iterator[Finished]:
        """Run all jobs."""
        import ray

        started = not ray.is_initialized()
        if started:
            cores = None if self.address else self.workers
            ray.init(address=self.address, num_cpus=cores, include_dashboard=False, log_to_driver=False)
        remote = ray.remote(num_cpus=1)(run_alone)
        waiting = together(jobs, self.workers)[::-1]
        running: list[Any] = []
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    running.append(remote.remote(waiting.pop()))
                (done,), running = ray.wait(running, num_returns=1)
                yield from ray.get(done)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)
            if started:
                ray.shutdown()


def run_alone(group: Sequence[Job]) -> list[Finished]:
    """Run cells on one thread."""
    use_one_thread()
    return run_jobs(group)
