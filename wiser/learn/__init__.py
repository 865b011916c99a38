"""Training scores and denoisers that have weights, on the frames of one sensor while an agent drives."""

from wiser.learn.learn import Learnt, learn
from wiser.learn.lessons import LESSONS

__all__ = ["LESSONS", "Learnt", "learn"]
