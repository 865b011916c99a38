"""Cells are named by what they are; what is written comes back; the same content makes the same files."""

import csv
import pickle
import sys
from dataclasses import replace

import numpy as np
import pyarrow.compute
import pytest
from pyarrow import parquet

from tests.evaluate import sweep
from wiser.evaluate import Cell, Episode, Ledger, LedgerError


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path / "sweep" / "ledger.sqlite")


def test_a_key_is_the_content() -> None:
    assert sweep.cell(1).key == sweep.cell(1).key
    others = [replace(sweep.cell(1), **change) for change in (
        {"task": "FourLane"}, {"agent": "x"}, {"method": "none"}, {"fault": "lag"}, {"intensity": 0.25},
        {"proportion": 0.5}, {"failures": 2}, {"onset": 3}, {"seed": 2}, {"steps": 99})]  # fmt: skip
    assert len({sweep.cell(1).key, *(other.key for other in others)}) == 11


@pytest.mark.parametrize(
    ("given", "meant"),
    [(1, 1.0), (np.float32(0.1), 0.1), (np.linspace(0, 1, 11)[3], 0.3), (0.1 + 0.2, 0.3), (-0.0, 0.0), (-1e-12, 0.0)],
)
def test_a_key_does_not_depend_on_how_a_number_is_written(given, meant) -> None:
    one, other = (replace(sweep.cell(1), intensity=value) for value in (given, meant))
    assert one == other
    assert one.key == other.key


def test_a_key_does_not_depend_on_the_integer_type_or_the_order_of_fields() -> None:
    fields = {"steps": np.int64(100), "seed": np.uint32(1), "failures": np.int8(1), "proportion": 1, "intensity": 0.5}
    assert Cell(**fields, fault="glare", method="greedy", agent="tiny@0123", task="StopSign").key == sweep.cell(1).key


def test_a_key_is_the_same_in_every_process_and_in_the_next_release() -> None:
    assert sweep.cell(1).key == "922f98d02f05abc6d9bddd5d94c94fc5f73ec50be0f84867beb2318fa98a966a"


@pytest.mark.parametrize("bad", [{"intensity": np.nan}, {"proportion": np.inf}])
def test_a_cell_has_finite_numbers(bad) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        replace(sweep.cell(1), **bad)
    with pytest.raises(TypeError):
        replace(sweep.cell(1), seed=1.5)


def test_what_is_written_comes_back(ledger) -> None:
    written = sweep.episodes(1)
    bare = Episode(index=9, env_seed=1, fault_seed=2, failed=(), score=np.float32(1.5), length=3, complete=False)
    assert ledger.write(sweep.cell(1), [*written, bare], seconds=2.5)
    back = ledger.episodes(sweep.cell(1).key)
    assert back == [*written, bare]
    assert [episode.seconds for episode in back[:-1]] == [episode.seconds for episode in written]
    assert type(back[0].success) is bool
    assert ledger.finished() == {sweep.cell(1).key}
    assert ledger.cells() == [{"key": sweep.cell(1).key, **vars(sweep.cell(1)), "episodes": 5, "seconds": 2.5}]


def test_timing_is_no_part_of_equality() -> None:
    one, other = sweep.episodes(1), sweep.episodes(1)
    assert one == other
    assert one[0].seconds != other[0].seconds


def test_a_score_that_is_not_finite_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="score must be finite"):
        replace(sweep.episodes(1)[0], score=float("nan"))


def test_a_cell_is_written_once(ledger) -> None:
    assert ledger.write(sweep.cell(1), sweep.episodes(1), 1.0)
    before = ledger.fingerprint()
    assert not ledger.write(sweep.cell(1), sweep.episodes(2), 2.0)
    assert ledger.fingerprint() == before
    assert ledger.cells()[0]["seconds"] == 1.0


def test_a_cell_without_episodes_or_with_one_twice_is_refused(ledger) -> None:
    for wrong in ([], sweep.episodes(1) + sweep.episodes(1)):
        with pytest.raises(ValueError, match="index of its own"):
            ledger.write(sweep.cell(1), wrong, 1.0)
    assert ledger.finished() == set()


def test_order_of_writing_does_not_show(tmp_path) -> None:
    one, other = Ledger.open(tmp_path / "one"), Ledger.open(tmp_path / "other")
    sweep.write(one, range(12))
    sweep.write(other, reversed(range(12)))
    assert sweep.without_timing(one.rows()) == sweep.without_timing(other.rows())
    assert one.fingerprint() == other.fingerprint()
    order = [(row["key"], row["index"]) for row in one.rows()]
    assert order == sorted(order)
    assert len(order) == 48


def test_the_fingerprint_sees_every_field_but_the_timing(tmp_path) -> None:
    first = sweep.episodes(1)[0]
    changes: list[dict] = [
        {}, {"seconds": 99.0}, {"score": 0.25}, {"length": 1}, {"complete": False}, {"cost": 0.0}, {"failed": ()},
        {"env_seed": 5}, {"fault_seed": 5}, {"detection": None}, {"success": None}, {"predictive": 0.2},
    ]  # fmt: skip
    prints = []
    for number, change in enumerate(changes):
        ledger = Ledger.open(tmp_path / str(number))
        ledger.write(sweep.cell(1), [replace(first, **change)], seconds=float(number))
        prints.append(ledger.fingerprint())
    assert prints[0] == prints[1]
    assert len(set(prints)) == len(changes) - 1


def test_a_ledger_is_a_path_and_at_rest_one_file(ledger) -> None:
    sweep.write(ledger, range(3))
    assert pickle.loads(pickle.dumps(ledger)).fingerprint() == ledger.fingerprint()
    assert [path.name for path in ledger.path.parent.iterdir()] == ["ledger.sqlite"]
    assert Ledger.open(str(ledger.path)) == ledger


def test_export_is_the_same_for_the_same_content(tmp_path, ledger) -> None:
    sweep.write(ledger, range(5))
    again = Ledger.open(tmp_path / "again.sqlite")
    for seed in reversed(range(5)):
        again.write(sweep.cell(seed), ledger.episodes(sweep.cell(seed).key), seconds=1.0)
    ledger.export(tmp_path / "a")
    again.export(tmp_path / "b")
    for name in ("episodes.csv", "cells.csv", "episodes.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_tables_agree(tmp_path, ledger) -> None:
    sweep.write(ledger, range(5))
    bare = Episode(index=0, env_seed=1, fault_seed=2, failed=("a", "b"), score=1.0, length=3, complete=True)
    ledger.write(sweep.cell(99), [bare], 1.0)
    ledger.export(tmp_path)
    with open(tmp_path / "episodes.csv", newline="") as file:
        text = list(csv.DictReader(file))
    table = parquet.read_table(tmp_path / "episodes.parquet").to_pylist()
    assert [{name: "" if value is None else str(value) for name, value in row.items()} for row in table] == text
    for row, exported in zip(ledger.rows(), table, strict=True):
        assert row.items() <= exported.items()
    empty = next(row for row in table if row["detection"] is None)
    assert empty["precision"] is None
    assert sum(row["surprise_auroc"] is not None for row in table) == 20
    with open(tmp_path / "cells.csv", newline="") as file:
        assert [row["key"] for row in csv.DictReader(file)] == sorted(ledger.finished())


def test_a_ledger_comes_back_from_its_tables(tmp_path, ledger) -> None:
    sweep.write(ledger, range(5))
    bare = Episode(index=0, env_seed=1, fault_seed=2, failed=("a", "b"), score=1.0, length=3, complete=True)
    ledger.write(sweep.cell(99), [bare], 1.5)
    ledger.export(tmp_path / "tables")
    restored = Ledger.of(tmp_path / "tables", restored=tmp_path / "elsewhere")
    assert restored.fingerprint() == ledger.fingerprint()
    assert restored.cells() == ledger.cells()
    assert not (tmp_path / "tables" / "ledger.sqlite").exists()
    here = Ledger.of(tmp_path / "tables")
    assert here.path.parent == tmp_path / "tables"
    assert here.finished() == ledger.finished()


def test_tables_that_were_tampered_with_are_refused(tmp_path, ledger) -> None:
    sweep.write(ledger, range(2))
    for change, said in (("cells", "not of the same sweep"), ("episodes", "changed, or written by another release")):
        folder = tmp_path / change
        ledger.export(folder)
        if change == "cells":
            lines = (folder / "cells.csv").read_text().splitlines()
            (folder / "cells.csv").write_text("\n".join(lines[:-1]))
        else:
            table = parquet.read_table(folder / "episodes.parquet")
            column = table.column_names.index("intensity")
            half = pyarrow.compute.multiply(table["intensity"], 0.5)
            parquet.write_table(table.set_column(column, "intensity", half), folder / "episodes.parquet")
        with pytest.raises(LedgerError, match=said):
            Ledger.of(folder, restored=tmp_path / f"{change} back")


def test_an_empty_ledger_exports_headers(tmp_path, ledger) -> None:
    ledger.export(tmp_path)
    assert parquet.read_table(tmp_path / "episodes.parquet").num_rows == 0
    assert (tmp_path / "cells.csv").read_text().startswith("key,task,agent,method")


def test_without_pyarrow_there_is_csv_and_a_hint(tmp_path, ledger, monkeypatch) -> None:
    sweep.write(ledger, range(2))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(LedgerError, match=r"pip install 'wiser-guard\[evaluate\]'"):
        ledger.export(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["cells.csv", "episodes.csv"]
