"""Scores and denoisers with weights of their own: networks, their files, and how rejection uses them."""

from wiser.guard.learned.files import read_network, write_network
from wiser.guard.learned.resnet import ResNet18
from wiser.guard.learned.restormer import Restormer
from wiser.guard.learned.uses import Learned, corruption, restoration

__all__ = [
    "Learned",
    "ResNet18",
    "Restormer",
    "corruption",
    "read_network",
    "restoration",
    "write_network",
]
