"""Two processes train one model: the same weights in both, from gradients of both, and resumable."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from tests.train.test_resume import SMALL, quiet, weights
from wiser.train import checkpoint, distributed
from wiser.train.loop import train

WHOLE = replace(SMALL, updates=8, cloning_end=0.5, cooldown=0.0)
HALF = replace(SMALL, updates=4, cloning_end=1.0, cooldown=0.0)  # the same schedule, stopped half way
CODE = """
import sys
from pathlib import Path
from wiser.train import checkpoint
from wiser.train.loop import train
folder = Path(sys.argv[1])
train(checkpoint.config_of(folder), folder, lambda line: None)
"""


MEAN = """
import sys
from pathlib import Path
import torch
from wiser.train import distributed
rank = distributed.start("cpu")
mean = distributed.mean(torch.tensor(2.0 + 3.0 * rank, requires_grad=True))
(Path(sys.argv[1]) / f"{rank}").write_text(f"{float(mean)} {mean.requires_grad}")
distributed.finish()
"""


def torchrun(folder, code: str = CODE) -> None:
    (folder / "main.py").write_text(code)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    subprocess.run([*command, str(folder / "main.py"), str(folder)], check=True, capture_output=True, timeout=300)


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    checkpoint.begin(folder, WHOLE)
    torchrun(folder)
    return folder


def test_both_processes_end_with_the_same_weights(together) -> None:
    first, second = (load_file(place / checkpoint.STATE) for place in (together, together / "process1"))
    learnt = [name for name in first if name.startswith(("model.", "objective.slow_critic."))]
    assert all(torch.equal(first[name], second[name]) for name in learnt)
    assert not torch.equal(first["generator"], second["generator"])


def test_both_processes_contribute(together, tmp_path) -> None:
    train(WHOLE, tmp_path, quiet)
    alone, shared = weights(tmp_path), weights(together)
    assert not all(torch.equal(alone[name], shared[name]) for name in alone)


def test_a_shared_run_resumes_to_the_same_weights(together, tmp_path) -> None:
    checkpoint.begin(tmp_path, HALF)
    torchrun(tmp_path)
    for place in (tmp_path, tmp_path / "process1"):
        (place / "config.yaml").unlink()
        checkpoint.begin(place, WHOLE)
    torchrun(tmp_path)
    a, b = weights(tmp_path), weights(together)
    assert all(torch.equal(a[name], b[name]) for name in a)


def test_a_number_has_the_same_mean_in_both(tmp_path) -> None:
    """As the excess of a cost has, or the price of it would drift apart."""
    torchrun(tmp_path, MEAN)
    assert {(tmp_path / rank).read_text() for rank in "01"} == {"3.5 False"}
    assert float(distributed.mean(torch.tensor(2.0))) == 2.0
