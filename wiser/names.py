"""A name nobody knows: which one was perhaps meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def perhaps(name: str, known: Iterable[str]) -> str:
    """A question to put behind an unknown name, ` (did you mean 'greedy'?)`; empty where no known one is close."""
    near = get_close_matches(name, list(known), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""
