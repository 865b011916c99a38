"""The command that trains the small model."""

import functools
import shlex

import pytest
import tyro

pytest.importorskip("diffusers")
from wiser.video.small import report, train, training


def test_what_it_says_to_measure_with_is_what_the_report_understands(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(training, "train", lambda folder, plan, announce: folder / "model")
    assert train.main(tmp_path) == 0
    command = capsys.readouterr().out.partition("python -m wiser.video.small.report ")[2]
    understood = tyro.cli(functools.wraps(report.main)(lambda **told: told), args=shlex.split(command))
    assert understood["model"] == tmp_path / "model"
