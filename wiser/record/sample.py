"""Where a recorded episode lies among all that were driven: an episode by itself proves nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """All episodes of a comparison, and which of them have a page."""

    scores: Mapping[str, Sequence[float]]
    """{lane: score of every episode}; the same episodes in all lanes."""
    order: Sequence[int]
    """The episodes as they are to be shown, from left to right."""
    sorted_by: str
    """What this order means, in a few words."""
    pages: Mapping[int, tuple[str, str]]
    """{episode: (what to call it, name of its page)} of those that were recorded; the pages lie in one folder."""
    shown: int
    """The episode on this page."""
