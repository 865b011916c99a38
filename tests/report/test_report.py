"""A report from any ledger: all it can show, one clear sentence about the rest, never a traceback."""

import re

import pytest

from tests.report.synthetic import add
from wiser.commands.report import report
from wiser.evaluate import Ledger
from wiser.evaluate.ledger import LEDGER
from wiser.report import ReportError, read_sweep
from wiser.report.write import PAGE, TABLES, write_report


def test_all_figures_are_there_in_every_format(results, made) -> None:
    assert made == results / "figures"
    stems = {path.stem for path in made.glob("*.png")}
    assert stems >= {
        "multi-failures", "multi-search", "multi-training", "multi-resilience", "single-surfaces-four-lane",
        "surprise-surprise",
    }  # fmt: skip
    for suffix in (".svg", ".pdf"):
        assert {path.stem for path in made.glob(f"*{suffix}")} == stems
    assert all(path.stat().st_size > 1000 for path in made.iterdir())


def test_the_page_needs_nothing_but_itself(made) -> None:
    page = (made / PAGE).read_text()
    bare = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert "http" not in bare.replace("http-equiv", "")
    assert not re.findall(r"<(?:link|img|iframe)|@import|url\((?!#)", bare)
    assert "default-src 'none'" in page
    assert "{{" not in re.sub(r"<script>.*</script>", "", page, flags=re.DOTALL)


def test_every_picture_has_words_and_every_figure_a_caption(made) -> None:
    page = (made / PAGE).read_text()
    alts = re.findall(r'role="img" aria-label="([^"]*)"', page)
    assert len(alts) == page.count("<svg")
    assert all(len(alt) > 20 for alt in alts)
    assert page.count("<figcaption>") == page.count("<section id=") - 4  # all but replays, absent, sources, methods
    assert "3 episodes per point" in page


def test_texts_from_a_ledger_stay_texts(tmp_path) -> None:
    evil = "</script><script>1</script><b>&{{script}}`x`"
    for failed in (0, 1, 2):
        add(tmp_path, [5.0], failures=failed, task=evil, contender=evil, disturbance=evil, agent=evil)
    page = (write_report((tmp_path,), None, None)[0] / PAGE).read_text()
    assert "<b>" not in page
    assert page.count("<script>") == 1


def test_tables_are_markdown(made) -> None:
    text = (made / TABLES).read_text()
    assert "| confident |" in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("| confident | glare")}
    assert len(widths) == 1


def test_the_same_ledger_makes_the_same_files(results, made, tmp_path) -> None:
    again, _ = write_report(tuple(results / name for name in ("multi", "single", "surprise")), None, tmp_path)
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in made.iterdir()
    }


def test_exported_tables_are_as_good_as_their_ledger(results, tmp_path) -> None:
    Ledger.open(results / "multi" / LEDGER).export(tmp_path / "multi")
    assert read_sweep(tmp_path / "multi") == read_sweep(results / "multi")
    assert not (tmp_path / "multi" / LEDGER).exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: None, "no ledger.sqlite in"),
        (lambda folder: Ledger.open(folder / LEDGER), "no finished cell yet"),
        (lambda folder: (folder / LEDGER).write_bytes(b"no ledger" * 999), "choose another path"),
    ],
)
def test_what_cannot_be_reported_is_one_sentence(tmp_path, capsys, spoil, said) -> None:
    spoil(tmp_path)
    assert report((tmp_path,)) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_nothing_to_report_on(tmp_path, capsys) -> None:
    assert report(()) == 2
    assert "name at least one folder" in capsys.readouterr().err
    add(tmp_path / "a" / "same", [1.0])
    add(tmp_path / "b" / "same", [1.0])
    assert report((tmp_path / "a" / "same", tmp_path / "b" / "same")) == 2
    assert report((tmp_path / "a" / "same",), runs=tmp_path) == 2
    assert "no log.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    "cells",
    [
        [{"failures": 0}],
        [{"failures": 1}],
        [{"failures": 1}, {"failures": 2}],
        [{"failures": failed, "task": "Unheard", "contender": "novel"} for failed in (1, 0)],
        [{"failures": 0, "contender": "confident"}, {"failures": 1, "contender": "exhaustive"}],
        [{"intensity": 0.5, "proportion": 0.5}, {"intensity": 1.0, "proportion": 1.0}],
    ],
    ids=[
        "clean only",
        "one faulty cell",
        "no clean cell",
        "unknown task and method",
        "nothing in common",
        "two corners",
    ],
)
def test_little_data_makes_a_small_report(tmp_path, cells) -> None:
    for fields in cells:
        add(tmp_path, [5.0, 6.0], **fields)
    folder, absent = write_report((tmp_path,), None, None)
    page = (folder / PAGE).read_text()
    assert absent
    assert all(f"<li>{title}." in page for title in absent)


def test_agents_that_were_left_out_are_named_on_the_page(tmp_path) -> None:
    for failed in (0, 1, 2):
        add(tmp_path, [5.0], failures=failed)
    add(tmp_path, [9.0], failures=1, agent="older@9")
    assert [p.strata for s, p in read_sweep(tmp_path).points.items() if s.failures == 1] == [[[5.0]]]
    folder, _ = write_report((tmp_path,), None, None)
    assert "left out: 1 cells of StopSign, confident" in (folder / PAGE).read_text()


def test_errors_are_values(tmp_path) -> None:
    with pytest.raises(ReportError, match="wiser sweep quick"):
        read_sweep(tmp_path)
