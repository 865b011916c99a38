"""Measuring how well agents withstand faults: what is stored, and what may be said about it."""

from wiser.evaluate.detection import Detection, delay_curve
from wiser.evaluate.histogram import Histogram, auroc
from wiser.evaluate.ledger import Ledger, LedgerError
from wiser.evaluate.records import Cell, Episode
from wiser.evaluate.tally import DetectionTally
from wiser.evaluate.treatments import Treatment

__all__ = [
    "Cell",
    "Detection",
    "DetectionTally",
    "Episode",
    "Histogram",
    "Ledger",
    "LedgerError",
    "Treatment",
    "auroc",
    "delay_curve",
]
