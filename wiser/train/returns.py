"""What the last episodes of the policy amounted to, by signal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.envs.domain import domain_of

LAST = 20  # episodes
ADD_UP: dict[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]] = {
    "sum": np.add,
    "any": np.maximum,
    "last": lambda before, now: now,
}


class Returns:
    """Adds up signals over the episodes of many environments, each as the domain's measure of that name says."""

    def __init__(self, env: str, signals: Iterable[str], rows: int) -> None:
        measures = domain_of(env).measures
        self.how = {name: measures[name].how if name in measures else "sum" for name in signals}
        self.running = {name: np.zeros(rows) for name in self.how}
        self.helped = np.zeros(rows, bool)
        self.finished: dict[str, list[float]] = {name: [] for name in self.how}

    def add(self, signals: Mapping[str, NDArray[Any]], guided: NDArray[np.bool_], done: NDArray[np.bool_]) -> None:
        """Take in one step of every row: its signals, whether an expert drove it, and whether its episode is over."""
        self.helped |= guided  # an episode that an expert drove in part is not the policy's
        for name, how in self.how.items():
            total = ADD_UP[how](self.running[name], signals[name])
            self.finished[name] = (self.finished[name] + total[done & ~self.helped].tolist())[-LAST:]
            self.running[name] = np.where(done, 0.0, total)
        self.helped = self.helped & ~done

    def means(self) -> dict[str, float | None]:
        """For the log: `policy_score` of the reward, `policy_NAME` of another signal; None before an episode ended."""
        return {
            f"policy_{'score' if name == 'reward' else name}": float(np.mean(totals)) if totals else None
            for name, totals in self.finished.items()
        }

    def state(self) -> dict[str, Any]:
        """Plain values for `restore`."""
        running = {name: totals.tolist() for name, totals in self.running.items()}
        return {"running": running, "helped": self.helped.tolist(), "finished": self.finished}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.running = {name: np.array(totals) for name, totals in state["running"].items()}
        self.helped = np.array(state["helped"])
        self.finished = {name: list(totals) for name, totals in state["finished"].items()}
