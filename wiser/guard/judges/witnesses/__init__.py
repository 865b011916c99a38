"""Witnesses: every sensor has a belief of its own, and is judged by it instead of by what the others make of it."""

from wiser.guard.judges.witnesses.judge import Witnesses

__all__ = ["Witnesses"]
