"""BRISQUE (Mittal et al., 2012): how far the statistics of a picture are from those of undistorted photographs.

The weights are those of the package `brisque` 0.2.0, a support vector regression of 770 pictures. Only its files are
used: its code needs a compiler to install and fails with numpy 2.4. Features are computed as it computes them.
"""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float64]
LUMINANCE = (0.2125, 0.7154, 0.0721)
KERNEL = cv2.getGaussianKernel(7, 7 / 6, cv2.CV_64F)
"""Of local means and spreads."""
LEAST_SPREAD = 1 / 255
SHAPES = (0.2, 10.0)
"""What the exponent of a distribution may be."""
NEIGHBOURS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Right, below, and on the two diagonals."""
WORST = 100.0


class Brisque:
    """The regression: 0 for a flawless photograph, about 100 for the worst."""

    def __init__(self, folder: Path) -> None:
        """Read svm.txt and normalize.pickle from a folder."""
        header, _, rows = (folder / "svm.txt").read_text().partition("SV\n")
        settings = dict(line.split(maxsplit=1) for line in header.splitlines())
        self.gamma, self.offset = float(settings["gamma"]), float(settings["rho"])
        vectors = [[float(value.rpartition(":")[2]) for value in row.split()] for row in rows.splitlines()]
        self.weight, self.known = np.array(vectors)[:, 0], np.array(vectors)[:, 1:]  # (V,), (V, 36)
        with (folder / "normalize.pickle").open("rb") as file:
            usual = _Plain(file).load()
        self.lowest, self.highest = np.array(usual["min_"]), np.array(usual["max_"])  # (36,)

    def __call__(self, pixels: Tensor) -> Tensor:
        """(B, 3, H, W) -> (B,): 100 less BRISQUE, so that 100 is best and 0 is worst."""
        pictures = pixels.permute(0, 2, 3, 1).double().numpy()  # (B, H, W, 3)
        return torch.tensor([WORST - min(max(self.distortion(picture), 0.0), WORST) for picture in pictures])

    def distortion(self, picture: Floats) -> float:
        """BRISQUE of (H, W, 3) in [0, 1]; the worst of a picture without any texture, which has no statistics."""
        grey = picture @ LUMINANCE  # (H, W)
        if np.ptp(grey) < LEAST_SPREAD:
            return WORST
        found = (features(grey) - self.lowest) / (self.highest - self.lowest) * 2.0 - 1.0  # (36,)
        nearness = np.exp(-self.gamma * np.square(self.known - found).sum(1))  # (V,)
        return float(self.weight @ nearness - self.offset)


def features(grey: Floats) -> Floats:
    """Eighteen figures of a picture, and eighteen of the same at half the size; (36,)."""
    half = cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_CUBIC)
    return np.concatenate([_statistics(np.asarray(scale, np.float64)) for scale in (grey, half)])


def _statistics(grey: Floats) -> Floats:
    structure = _structure(grey)
    shape, left, right = _fit(structure)
    found = [shape, (left + right) / 2]
    height, width = structure.shape
    for down, across in NEIGHBOURS:
        here = structure[: height - down, max(0, -across) : width - max(0, across)]
        there = structure[down:, max(0, across) : width - max(0, -across)]
        shape, left, right = _fit(here * there)
        stretch = math.exp(0.5 * (math.lgamma(1 / shape) - math.lgamma(3 / shape)))
        tilt = math.exp(math.lgamma(2 / shape) - math.lgamma(1 / shape))
        found += [shape, (math.sqrt(right) - math.sqrt(left)) * stretch * tilt, left, right]
    return np.array(found)


def _structure(grey: Floats) -> Floats:
    """Each pixel less the mean around it, by the spread around it."""
    mean = _local(grey)
    return (grey - mean) / (np.sqrt(np.abs(mean**2 - _local(grey**2))) + LEAST_SPREAD)


def _local(values: Floats) -> Floats:
    return np.asarray(cv2.sepFilter2D(values, cv2.CV_64F, KERNEL, KERNEL, borderType=cv2.BORDER_CONSTANT), np.float64)


def _fit(values: Floats) -> tuple[float, float, float]:
    """Exponent of an asymmetric generalised Gaussian, and its variances below and above 0."""
    if not values.any():
        return SHAPES[1], 0.0, 0.0
    sides = (values[values < 0], values[values >= 0])
    left, right = (float(np.square(side).sum() / max(len(side), 1)) for side in sides)
    low_end, high_end = math.sqrt(left), math.sqrt(right)
    peak = float(np.abs(values).mean() ** 2 / np.square(values).mean())
    peak *= (low_end**3 + high_end**3) * (low_end + high_end) / (left + right) ** 2
    low, high = SHAPES
    for _ in range(50):  # the ratio of moments grows with the exponent
        middle = (low + high) / 2
        logarithm = 2 * math.lgamma(2 / middle) - math.lgamma(1 / middle) - math.lgamma(3 / middle)
        low, high = (middle, high) if math.exp(logarithm) < peak else (low, middle)
    return (low + high) / 2, left, right


class _Plain(pickle.Unpickler):
    """Lists, dictionaries and numbers only: nothing in the file is run."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a table of numbers")
