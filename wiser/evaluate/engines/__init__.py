"""Where the cells of a sweep run. Every engine gives the same results; only the time differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from wiser.checks import at_least
from wiser.evaluate.jobs import Finished
from wiser.evaluate.plan import Job


class Engine(Protocol):
    """Runs cells and hands each one out as it is finished, in any order."""

    def run(self, jobs: Sequence[Job]) -> Iterator[Finished]:
        """Run all jobs."""


def engine_by_name(name: str, workers: int, address: str | None = None) -> Engine:
    """Make `local` or `ray`."""
    at_least(1, workers=workers)
    from wiser.evaluate.engines.cluster import RayEngine
    from wiser.evaluate.engines.local import LocalEngine

    if name == "local":
        return LocalEngine(workers)
    if name == "ray":
        return RayEngine(workers, address)
    raise ValueError(f"unknown engine {name!r}; there are local, ray")
