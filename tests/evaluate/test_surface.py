"""The area of a surface is its mean height, and the worst cell is where it is lowest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from wiser.evaluate.statistics import mean
from wiser.evaluate.surface import WorstCell, surface_weights, worst_cell

axes = st.lists(st.floats(0, 1).map(lambda x: round(x, 3)), min_size=1, max_size=6, unique=True).map(sorted)


@given(axes, axes)
def test_a_constant_surface_has_that_area(intensities, proportions) -> None:
    assert surface_weights(intensities, proportions).sum() == pytest.approx(1)


def test_the_area_is_scipys_trapezoid_over_the_domain() -> None:
    intensities, proportions = [0.0, 0.1, 0.4, 1.0], [0.25, 0.5, 2.0]
    surface = np.random.default_rng(0).normal(size=(4, 3))
    expected = trapezoid(trapezoid(surface, proportions), intensities) / (1.0 * 1.75)
    assert (surface_weights(intensities, proportions) * surface).sum() == pytest.approx(expected)


def test_the_area_has_an_interval() -> None:
    rng = np.random.default_rng(0)
    cells = rng.normal(5, 1, (3, 2, 40))
    weights = surface_weights([0, 0.5, 1], [0, 1])
    estimate = mean(cells.reshape(6, 40), rng, weights, [range(40)] * 6)
    assert estimate.value == pytest.approx(trapezoid(trapezoid(cells.mean(2), [0, 1]), [0, 0.5, 1]))
    assert estimate.low < estimate.value < estimate.high


def test_the_worst_cell_is_found_and_the_mildest_of_equals() -> None:
    surface = [[3.0, 2.0], [1.0, 1.0]]
    assert worst_cell(surface, [0.5, 1.0], [0.25, 0.75]) == WorstCell(1.0, 1.0, 0.25)


@pytest.mark.parametrize("axis", [[], [0.0, 0.0], [1.0, 0.0], [[0.0, 1.0]]])
def test_an_axis_goes_up(axis) -> None:
    with pytest.raises(ValueError, match="goes up"):
        surface_weights(axis, [0.0, 1.0])


def test_a_surface_with_holes_is_refused() -> None:
    for hole in ([[1.0, np.nan]], [[1.0]]):
        with pytest.raises(ValueError, match="full array"):
            worst_cell(hole, [0.0], [0.0, 1.0])
