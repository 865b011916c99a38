"""The training of the small model as a whole, and its command."""

import functools
import shlex
from dataclasses import replace

import pytest
import tyro

pytest.importorskip("diffusers")
from wiser.video.small import report, train, training
from wiser.video.small.plan import Plan, Stage
from wiser.weights import ModelError

TINY = Plan(base=12, stages=(Stage(1, 1, 5, 16),), heads=1, layers=1, clips=2, steps=1)
CODEC, LATENTS, TRANSFORMER = (f"{name}.safetensors" for name in ("codec", "latents", "transformer"))


def silent(*told):
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of one step each."""
    folder = tmp_path_factory.mktemp("run")
    training.train(folder, TINY, silent)
    return folder


def test_a_run_that_is_finished_is_not_run_again(folder):
    def announce(what, done, of, loss):
        raise AssertionError(what)

    assert training.train(folder, TINY, announce) == folder / "model"


@pytest.mark.parametrize(("changes", "file", "said"), [
    ({"base": 16}, CODEC, "base"), ({"stages": (Stage(1, 2, 5, 16),)}, CODEC, "stages"),
    ({"clips": 3}, LATENTS, "clips"), ({"layers": 2}, TRANSFORMER, "layers"), ({"heads": 2}, TRANSFORMER, "heads"),
    ({"steps": 2}, TRANSFORMER, "steps"),
])  # fmt: skip
def test_another_plan_does_not_go_on_in_the_folder(folder, changes, file, said):
    with pytest.raises(ModelError, match=rf"{file} belongs to a course with another {said}: choose another folder"):
        training.train(folder, replace(TINY, **changes), silent)


def test_latents_of_another_codec_are_not_learnt(folder, tmp_path):
    (tmp_path / LATENTS).write_bytes((folder / LATENTS).read_bytes())
    with pytest.raises(ModelError, match=f"{LATENTS} belongs to a course with another codec:"):
        training.train(tmp_path, replace(TINY, stages=(Stage(1, 2, 5, 16),)), silent)


def test_a_transformer_of_other_latents_is_not_gone_on_with(folder, tmp_path):
    """Where files of a run were taken away, and it is run anew with another plan."""
    (tmp_path / TRANSFORMER).write_bytes((folder / TRANSFORMER).read_bytes())
    with pytest.raises(ModelError, match=f"{TRANSFORMER} belongs to a course with another latents:"):
        training.train(tmp_path, replace(TINY, stages=(Stage(1, 2, 5, 16),)), silent)


def test_what_it_says_to_measure_with_is_what_the_report_understands(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(training, "train", lambda folder, plan, announce: folder / "model")
    assert train.main(tmp_path) == 0
    command = capsys.readouterr().out.partition("python -m wiser.video.small.report ")[2]
    understood = tyro.cli(functools.wraps(report.main)(lambda **told: told), args=shlex.split(command))
    assert understood["model"] == tmp_path / "model"
