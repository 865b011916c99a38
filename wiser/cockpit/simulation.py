"""The one thread that owns the session: it drives at the chosen speed while somebody watches, and takes orders."""

from __future__ import annotations

import logging
import math
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from wiser.cockpit.board import Board
from wiser.cockpit.catalogue import Choice
from wiser.cockpit.facts import about_episode, about_step
from wiser.cockpit.session import Session
from wiser.cockpit.sheet import Sheet
from wiser.cockpit.side import Side
from wiser.record.step import Step
from wiser.record.stillness import Stillness

T = TypeVar("T")
FASTEST = 200.0
"""Steps a second that may be asked for; 0 is as fast as possible."""
logger = logging.getLogger(__name__)


class Simulation:
    """Drives a session. Whatever is to happen to it happens in its thread, between two steps: hand it to `ask`.

    >>> simulation.ask(lambda it: it.session.break_sensor("camera", "glare")).result()
    """

    def __init__(self, session: Session, board: Board, speed: float = 10.0) -> None:
        """`speed` is in steps a second; 0 is as fast as possible."""
        if not (math.isfinite(speed) and 0.0 <= speed <= FASTEST):
            raise ValueError(f"speed is a number from 0 to {FASTEST:g} steps a second, got {speed}")
        self.session, self.board = session, board
        self.speed, self.paused, self.watchers, self.told = speed, False, 0, ""
        self._requests: queue.SimpleQueue[tuple[Future[Any], Callable[[Simulation], Any]]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)
        self._running, self._next = True, 0.0

    def start(self) -> None:
        """Begin; nothing moves until somebody watches."""
        self._thread.start()

    def stop(self) -> None:
        """End, after the step that is under way."""
        self.ask(Simulation._stop)
        self._thread.join()

    def ask(self, deed: Callable[[Simulation], T]) -> Future[T]:
        """Have something done between two steps; the future has the result, or what went wrong."""
        future: Future[T] = Future()
        self._requests.put((future, deed))
        return future

    def watch(self, by: int) -> None:
        """One viewer more (1) or less (-1)."""
        self.watchers += by

    def restart(self, choice: Choice | None = None) -> None:
        """Begin the episode anew, or another one."""
        self.session.restart(choice)
        self._open()

    def step(self) -> None:
        """Drive both sides once and show it."""
        if not self.session.over:
            self._show(self.session.step())

    def _run(self) -> None:
        self._attempt(self._open)
        while self._running:
            try:
                future, deed = self._requests.get(timeout=self._patience())
            except queue.Empty:
                self._attempt(self.step)
                continue
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(deed(self))
                except Exception as error:
                    future.set_exception(error)
            self._report()
        self.session.close()

    def _patience(self) -> float | None:
        """Seconds until the next step is due; None if that depends on an order."""
        if not self.watchers or self.paused or self.session.over:
            return None
        return max(0.0, self._next - time.monotonic())

    def _attempt(self, deed: Callable[[], None]) -> None:
        """Do what nobody waits for. If it fails the thread lives on, for one can choose something else."""
        self._next = max(self._next + (1 / self.speed if self.speed else 0.0), time.monotonic())
        try:
            deed()
        except Exception as error:
            logger.exception("the episode cannot go on")
            self.paused, self.told = True, f"The episode cannot go on: {error}"
        self._report()

    def _open(self) -> None:
        """Show the first step of an episode at once: there is something to see even if nobody drives on."""
        first = self.session.step()
        steps = [step for step in first if step is not None]
        self._sheet = Sheet(self.session.agent.sensors, steps)
        self._stillness = [Stillness() for _ in steps]
        self.board.open(about_episode(self.session, self._sheet, steps))
        self._show(first)

    def _show(self, steps: tuple[Step | None, ...]) -> None:
        lanes = zip(steps, self._stillness, self.session.sides, strict=True)
        facts = [self._facts(step, still, side) if step else None for step, still, side in lanes]
        self.board.show(facts, self._sheet.draw(steps))

    def _facts(self, step: Step, still: Stillness, side: Side) -> dict[str, Any]:
        speed = self.session.recorder.about.steps_per_second
        stale = still.look(step.readings, step.view)
        return about_step(step, self.session.agent.sensors, stale, side.outcome, side.measures, speed)

    def _report(self) -> None:
        self.board.tell(
            {
                "paused": self.paused,
                "speed": self.speed,
                "faults": self.session.faults,
                "over": self.session.over,
                "told": self.told,
            }
        )

    def _stop(self) -> None:
        self._running = False
