"""Which sensors are masked, against counts written by hand, and figures that are no means."""

import numpy as np
import pytest

from tests.report.synthetic import cell
from wiser.envs.domain import Domain, Measure, Task, register
from wiser.evaluate import DetectionTally, Episode, Ledger
from wiser.evaluate.benchmark import figures_of
from wiser.evaluate.ledger import LEDGER
from wiser.report import masks, read_sweep, summaries
from wiser.report.assemble import assemble
from wiser.report.exhibit import NOTHING

SENSORS = ("camera", "lidar")
register(
    Domain(
        (Task("tests/Garden-v0", "Garden", "a garden"),),
        measures={"rose": Measure("any", "more", "roses", detail=True), "weed": Measure("sum", "less", "weeds")},
        summaries={"bloom": lambda episodes: 10 * float(np.max([episode["rose"] for episode in episodes]))},
    )
)
register(
    Domain(
        (Task("tests/Vase-v0", "Vase", "a vase"),),
        measures={"weed": Measure("sum", "less", "weeds")},
        summaries={"yield": lambda some: sum(e["score"] for e in some) / sum(e["weed"] for e in some)},
    )
)


def detection(broken: str, trusted: str, steps: int = 10):
    """Steps in which a sensor is broken, and trusted: a letter a step, c(amera), l(idar), b(oth), - (neither)."""
    tally = DetectionTally(1, SENSORS)
    for truth, trust in zip(broken, trusted, strict=True):
        flags = [[[letter in name for name in ("cb", "lb")]] for letter in (truth, trust)]
        tally.add(np.array(flags[0]), np.array(flags[1]), np.ones(1), np.ones((1, 2)), np.ones(1, bool))
    return tally.finish(0)


def write(folder, contender, disturbance, found, measures=(), **changes) -> None:
    asked = cell(contender=contender, disturbance=disturbance, failures=int(disturbance != "none"), **changes)
    episodes = [
        Episode(index=i, env_seed=i, fault_seed=0, failed=(), score=float(i), length=4, outcome="over", detection=one,
                measures=measures[i] if measures else {})
        for i, one in enumerate(found)
    ]  # fmt: skip
    Ledger.open(folder / LEDGER).write(asked, episodes, 1.0)


def test_masks_are_those_of_the_episodes(tmp_path) -> None:
    write(tmp_path, "confident", "none", [detection("----", "bbbc")])
    # camera: broken at 4 of 8 steps, masked at 3 of these and at 1 of the others; lidar is never broken, masked once
    write(tmp_path, "confident", "glare", [detection("cccc", "lllb"), detection("----", "blbc")])
    write(tmp_path, "dropout", "glare", [detection("cccc", "bbbb")])
    (exhibit,) = masks.exhibits(read_sweep(tmp_path))
    (table,) = exhibit.tables
    assert table.header == ("disturbance", "method", "camera", "lidar")
    assert table.rows == (
        ("none", "confident", "0 %", "25 %"),
        ("glare", "affected", "50 %", "0 %"),
        ("glare", "confident", "75 % / 25 %", "12 %"),
    )


def test_records_without_these_counts_are_no_table(tmp_path) -> None:
    from dataclasses import replace

    old = replace(detection("cc", "bb"), sensor_broken=(), sensor_distrusted=(), sensor_hits=())
    assert old.masks() == {}
    write(tmp_path, "confident", "glare", [old])
    assert list(masks.exhibits(read_sweep(tmp_path))) == []
    assert masks.text(None) == NOTHING


def test_a_summary_is_taken_over_all_episodes_at_once(tmp_path) -> None:
    found = [detection("--", "bb")] * 4
    roses = [{"rose": float(i == 2), "weed": 2.0} for i in range(4)]
    write(tmp_path, "confident", "none", found, roses, task="Garden")
    write(tmp_path, "confident", "glare", found, [{"rose": 0.0, "weed": 1.0}] * 4, task="Garden")
    sweep = read_sweep(tmp_path)
    bloom = summaries.table(sweep, "Garden", "bloom")
    method, clean, glare = bloom.rows[0]
    assert (method, glare) == ("confident", "0.00 [0.00, 0.00]")
    assert clean == "10.00 [0.00, 10.00]"
    details = summaries.details(sweep, "Garden", "none")
    assert details.rows == (("roses", "25%"),)
    names = [exhibit.name for exhibit in assemble([sweep]).exhibits]
    assert "summaries" in names
    assert "failures-weed" in names
    assert "failures-rose" not in names, "a summary speaks for it"


def test_a_summary_may_weigh_the_score_and_needs_no_details(tmp_path) -> None:
    """Scores are 0, 1, 2 and 3."""
    write(
        tmp_path, "confident", "none", [detection("--", "bb")] * 4, [{"weed": i + 1.0} for i in range(4)], task="Vase"
    )
    (exhibit,) = summaries.exhibits(read_sweep(tmp_path))
    (table,) = exhibit.tables
    assert table.rows[0][1].startswith("0.60 ["), "6 / 10; the mean of 0 / 1, 1 / 2, 2 / 3 and 3 / 4 is 0.5"
    assert figures_of("Vase", [Episode(index=0, env_seed=0, fault_seed=0, failed=(), score=6.0, length=4,
                                       outcome="over", detection=None, measures={"weed": 4.0})]) == {
        "weeds": "4.00", "yield": "1.50"
    }  # fmt: skip


@pytest.mark.parametrize("task", ["StopSign"])
def test_a_domain_without_summaries_has_no_such_table(task, tmp_path) -> None:
    write(tmp_path, "confident", "glare", [detection("cc", "bb")], task=task)
    assert list(summaries.exhibits(read_sweep(tmp_path))) == []
