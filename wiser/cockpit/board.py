"""What there is to see. The simulation writes it; any number of viewers read it, each at its own pace.

Nothing is queued for anybody: a viewer that comes back late finds the newest picture and what it missed of the
numbers. So a slow viewer neither holds the simulation up nor costs memory.
"""

from __future__ import annotations

import json
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

WINDOW = 300  # steps whose numbers are kept: what the page shows over time


@dataclass
class Place:
    """How far a viewer has read."""

    episode: int = 0
    step: int = 0
    state: int = 0


class Board:
    """Safe to write in one thread and read in another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: set[Callable[[], object]] = set()
        self._episode, self._about = 0, ""
        self._steps: deque[str] = deque(maxlen=WINDOW)
        self._end, self._picture = 0, b""
        self._changes, self._state = 0, ""

    def open(self, about: Mapping[str, Any]) -> None:
        """Begin an episode."""
        with self._lock:
            self._episode, self._about = self._episode + 1, json.dumps(about)
            self._steps.clear()
            self._end = 0

    def show(self, facts: list[dict[str, Any] | None], picture: bytes) -> None:
        """Add a step of the episode: the facts of each lane, and the picture of them all."""
        text = json.dumps(facts, separators=(",", ":"), allow_nan=False)
        with self._lock:
            self._steps.append(text)
            self._end, self._picture = self._end + 1, picture
        self._announce()

    def tell(self, state: Mapping[str, Any]) -> None:
        """Say how things stand, in place of what was said before."""
        text = json.dumps({"kind": "state", **state})
        if text == self._state:
            return
        with self._lock:
            self._changes, self._state = self._changes + 1, text
        self._announce()

    def news(self, place: Place) -> list[str | bytes]:
        """Everything a viewer at this place has not read, in at most three messages; moves the place on."""
        found: list[str | bytes] = []
        with self._lock:
            if place.episode != self._episode:
                found.append(self._about)
                place.episode, place.step = self._episode, 0
            if place.state != self._changes:
                found.append(self._state)
                place.state = self._changes
            if place.step < self._end:
                first = max(place.step, self._end - len(self._steps))
                missed = list(self._steps)[first - self._end :]
                found.append(pack(f'{{"kind":"steps","first":{first},"steps":[{",".join(missed)}]}}', self._picture))
                place.step = self._end
        return found

    @contextmanager
    def listening(self, listener: Callable[[], object]) -> Iterator[None]:
        """Have a function called, in the writer's thread, whenever there are news."""
        with self._lock:
            self._listeners.add(listener)
        try:
            listener()
            yield
        finally:
            with self._lock:
                self._listeners.discard(listener)

    def _announce(self) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()


def pack(text: str, picture: bytes) -> bytes:
    """One message of both: the length of the text in four bytes, the text, the picture."""
    encoded = text.encode()
    return struct.pack(">I", len(encoded)) + encoded + picture


def unpack(message: bytes) -> tuple[Any, bytes]:
    """The inverse, for those who are not a web page."""
    (length,) = struct.unpack_from(">I", message)
    return json.loads(message[4 : 4 + length]), message[4 + length :]
