"""Scores at several levels of noise: which sweeps have them, and the numbers against sums done by hand."""

import pytest

from tests.report.synthetic import add
from wiser.report import read_sweep
from wiser.report.levels import TITLE, difference, differences, exhibits, levels, means, settings_at

GIVEN = {  # (method, proportion): scores of the same two episodes
    ("single", 0.5): [10.0, 30.0], ("reject", 0.5): [15.0, 31.0],
    ("single", 0.75): [4.0, 8.0], ("reject", 0.75): [8.0, 2.0],
}  # fmt: skip


def sweep_of(folder, **changes):
    for (method, proportion), scores in GIVEN.items():
        add(folder, scores, contender=method, proportion=proportion, intensity=0.5)
        add(folder, [40.0, 60.0], contender=method, failures=0)
    if changes:
        add(folder, [1.0, 2.0], contender="single", **{"proportion": 0.5, "intensity": 0.5, **changes})
    return read_sweep(folder)


def test_a_level_is_one_value_of_what_varies(tmp_path) -> None:
    found = levels(sweep_of(tmp_path))
    assert [(level.axis, level.value, level.intensity, level.proportion) for level in found] == [
        ("proportion", 0.5, 0.5, 0.5),
        ("proportion", 0.75, 0.5, 0.75),
    ]


@pytest.mark.parametrize("change", [{"intensity": 1.0}, {"failures": 2}])
def test_where_more_varies_other_figures_speak(tmp_path, change) -> None:
    assert levels(sweep_of(tmp_path, **change)) == []


def test_means_and_differences_are_those_worked_out_by_hand(tmp_path) -> None:
    sweep = sweep_of(tmp_path)
    found = levels(sweep)
    rows = {row[:2]: [cell.partition(" ")[0] for cell in row[2:]] for row in means(sweep, "StopSign", found).rows}
    assert rows == {
        ("single", "proportion 0.5"): ["50", "20"], ("reject", "proportion 0.5"): ["50", "23"],
        ("single", "proportion 0.75"): ["50", "6"], ("reject", "proportion 0.75"): ["50", "5"],
    }  # fmt: skip
    gains = {
        row[:2]: [cell.partition(" ")[0] for cell in row[2:]] for row in differences(sweep, "StopSign", found).rows
    }
    assert gains == {("reject", "proportion 0.5"): ["0", "3"], ("reject", "proportion 0.75"): ["0", "−1"]}


def test_differences_are_of_the_same_episodes(tmp_path) -> None:
    """Per episode 5 and 1: a mean of two draws of these is between 1 and 5, though the scores differ by 20."""
    sweep = sweep_of(tmp_path)
    found = difference(sweep, settings_at(sweep, "StopSign", "reject", levels(sweep)[0])["glare"], "single")
    assert found is not None
    assert (found.value, found.low, found.high) == (3.0, 1.0, 5.0)


def test_the_exhibit_says_what_is_missing(tmp_path) -> None:
    add(tmp_path / "part", [1.0, 2.0], contender="single", proportion=0.5, disturbance="glare")
    add(tmp_path / "part", [1.0, 2.0], contender="single", proportion=0.75, disturbance="lag")
    (exhibit,) = exhibits(read_sweep(tmp_path / "part"))
    assert exhibit.title == TITLE
    assert "Not in the ledger: 3 of 5 cells" in exhibit.caption
    assert len(exhibit.tables) == 1  # nobody to compare with
