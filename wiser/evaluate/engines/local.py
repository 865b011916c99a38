"""A pool of processes on this machine, one thread each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import active_children, get_context

import torch

from wiser.evaluate.jobs import Finished, run_jobs, together
from wiser.evaluate.plan import Job
from wiser.interrupts import interrupts_wait


@dataclass(frozen=True)
class LocalEngine:
    """Cells on `workers` processes of this machine."""

    workers: int = 1

    def run(self, jobs: Sequence[Job]) -> Iterator[Finished]:
        """Run all jobs; what is queued or under way is dropped when the caller stops asking."""
        pool = ProcessPoolExecutor(self.workers, get_context("spawn"), initializer=use_one_thread)
        others = set(active_children())
        try:
            with interrupts_wait():
                running = [pool.submit(run_jobs, group) for group in together(jobs, self.workers)]
            for future in as_completed(running):
                yield from future.result()
        except BrokenProcessPool as error:
            raise RuntimeError("a worker process died; run the sweep again to go on, with fewer workers if it was "
                               "out of memory") from error  # fmt: skip
        finally:
            for worker in set(active_children()) - others:  # all is done, or nobody asks any more
                worker.terminate()
            pool.shutdown(cancel_futures=True)


def use_one_thread() -> None:
    """Workers share the cores by being many: more threads each would slow all of them down, and change roundings."""
    torch.set_num_threads(1)
