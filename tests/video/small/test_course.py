"""Training can be stopped at any time, and it learns."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("diffusers")
from wiser.video.small.codec import build_codec, codec_course
from wiser.video.small.course import Course, follow, pace
from wiser.video.small.plan import Stage
from wiser.weights import ModelError


def line(steps: int = 12, seed: int = 0) -> Course:
    """Fit a line; each step draws its own points."""
    torch.manual_seed(1)
    network = torch.nn.Linear(3, 1)

    def loss(step: int, rng: np.random.Generator) -> torch.Tensor:
        x = torch.from_numpy(rng.standard_normal((8, 3), np.float32))
        return (network(x) - x.sum(1, keepdim=True)).square().mean()

    return Course("line", network, loss, steps, 1e-2, seed)


def run(course: Course, path: Path, until: int | None = None) -> dict[str, torch.Tensor]:
    class StopError(Exception):
        pass

    def report(step: int, loss: float) -> None:
        if step == until:
            raise StopError

    try:
        follow(course, path, report, every=4)
    except StopError:
        assert until is not None
    return course.network.state_dict()


def test_a_course_that_was_stopped_ends_with_the_same_bits(tmp_path):
    whole = run(line(), tmp_path / "whole.safetensors")
    run(line(), tmp_path / "stopped.safetensors", until=10)  # the file is that of step 8
    resumed = run(line(), tmp_path / "stopped.safetensors")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert not torch.equal(whole["weight"], run(line(seed=1), tmp_path / "other.safetensors")["weight"])


def test_another_course_does_not_go_on_from_the_file(tmp_path):
    run(line(), tmp_path / "line.safetensors")
    with pytest.raises(ModelError, match="another seed"):
        run(line(seed=1), tmp_path / "line.safetensors")
    with pytest.raises(ModelError, match="another course"):
        run(replace(line(), name="curve"), tmp_path / "line.safetensors")
    run(replace(line(), on={"clips": 5}), tmp_path / "five.safetensors")
    run(replace(line(), on={"clips": 5}), tmp_path / "five.safetensors")
    for other in ({"clips": 6}, {"clips": 5, "base": 12}):
        with pytest.raises(ModelError, match=f"another {list(other)[-1]}:"):
            run(replace(line(), on=other), tmp_path / "five.safetensors")


def test_the_rate_rises_then_falls():
    rates = [pace(step, 1000) for step in range(1000)]
    assert rates[0] == pytest.approx(1 / 50)
    assert max(rates) == pytest.approx(1.0, abs=0.01)
    assert rates[-1] == pytest.approx(0.02, abs=1e-3)
    assert np.argmax(rates) == 49


def test_a_codec_learns(tmp_path):
    """From its linear start a few steps on the same clip make what comes back better."""
    codec = build_codec(12, 0, pictures=6)
    stage = Stage(12, 2, 5, 16)
    losses = []
    course = codec_course(codec, 0, (stage,))
    again = Course(course.name, codec, lambda step, rng: course.loss(0, np.random.default_rng(0)), 12, 1e-3, 0)
    follow(again, tmp_path / "codec.safetensors", lambda step, loss: losses.append(loss))
    assert losses[-1] < 0.9 * losses[0]
