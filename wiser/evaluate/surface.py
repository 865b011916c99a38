"""One number for a whole surface of scores over intensity and proportion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class WorstCell(NamedTuple):
    """Where a surface is lowest; the mildest such cell if there are several."""

    value: float
    intensity: float
    proportion: float


def surface_weights(intensities: ArrayLike, proportions: ArrayLike) -> NDArray[np.float64]:
    """(I, P): share of each grid point in the area by the trapezoid rule; the shares add up to 1.

    `mean(cells, rng, weights, episodes)`, with the scores of each cell as a stratum and the episodes as clusters, is
    then the area with its interval.
    """
    return np.outer(_trapezoid(intensities), _trapezoid(proportions))


def worst_cell(surface: ArrayLike, intensities: ArrayLike, proportions: ArrayLike) -> WorstCell:
    """Lowest point of a surface (I, P)."""
    heights = _checked(surface, intensities, proportions)
    i, p = np.unravel_index(np.argmin(heights), heights.shape)
    return WorstCell(float(heights[i, p]), float(np.asarray(intensities)[i]), float(np.asarray(proportions)[p]))


def _checked(surface: ArrayLike, intensities: ArrayLike, proportions: ArrayLike) -> NDArray[Any]:
    heights, shape = np.asarray(surface, np.float64), (np.size(intensities), np.size(proportions))
    if heights.shape != shape or not np.isfinite(heights).all():
        raise ValueError(f"a surface over this grid is a full array of shape {shape}, got {heights}")
    return heights


def _trapezoid(points: ArrayLike) -> NDArray[np.float64]:
    """Weights of the points; a single point has all of it, for then the axis has no extent to integrate over."""
    points = np.asarray(points, np.float64)
    gaps = np.diff(points)
    if points.ndim != 1 or points.size == 0 or not (gaps > 0).all():
        raise ValueError(f"an axis of a surface goes up strictly, got {points}")
    if points.size == 1:
        return np.ones(1)
    return (np.append(gaps, 0) + np.insert(gaps, 0, 0)) / (2 * gaps.sum())
