"""What docs/own-environment.md promises: every command works for a package that lies in the current folder."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from wiser.evaluate.ledger import LEDGER, Ledger

ROOT = Path(__file__).parents[1]
ENV, OPTIONS = "mypkg.world:Mine-v0", ("--env-options", "difficulty=3", "colour=[9, 8, 7]")
WORLD = """
import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from wiser.envs.domain import Domain, Measure, Task, register


class Mine(gymnasium.Env):
    def __init__(self, difficulty: int = 1, colour: tuple[int, ...] = (0, 0, 0)) -> None:
        self.difficulty, self.colour = difficulty, colour
        self.observation_space = Dict(lamp=Box(0, 255, (16, 16, 3), np.uint8), depth=Box(-1, 1, (2,), np.float32))
        self.action_space = Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.look(), {}

    def step(self, action):
        return self.look(), float(action == 1), False, False, {"spilled": self.difficulty}

    def look(self):
        lamp = np.zeros((16, 16, 3), np.uint8) + np.uint8(self.colour)
        return {"lamp": lamp, "depth": self.np_random.uniform(-1, 1, 2).astype(np.float32)}


gymnasium.register("Mine-v0", Mine, max_episode_steps=5)
register(
    Domain(
        tasks=(Task("Mine-v0", "Mine", "the mine", longest=5, random=1.0),),
        measures={"spilled": Measure("sum", "less", "litres spilled")},
        fallback=lambda env, space: 0,
    )
)
"""
PLAN = f"""
tasks: ["{ENV}"]
agents: [runs/mine/model]
treatments:
  none: {{}}
  careful: {{judge: calibrated, blind_limit: 2}}
disturbances: [freeze]
failures: [0, 1, 2]
episodes: 2
options: {{difficulty: 3, colour: [9, 8, 7]}}
processes: true
"""
SMALL = "--updates 3 --rows 2 --batch 2 --length 4 --prefill 5 --imagine-steps 3 --capacity 400 --evaluate-episodes 2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a package in it, far from the library."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "mypkg").mkdir()
    (folder / "mypkg" / "world.py").write_text(WORLD)
    (folder / "mine.yaml").write_text(PLAN)
    return folder


def start(folder: Path, *words: str) -> subprocess.Popen:
    here = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "wiser", *words]
    return subprocess.Popen(command, cwd=folder, env=here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wiser(folder: Path, *words: str) -> str:
    """Run a command to its good end; what it said."""
    with start(folder, *words) as process:
        said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return said


@pytest.fixture(scope="module")
def trained(folder) -> Path:
    wiser(folder, "train", "nano", "pure", "dropout", "--env", ENV, *OPTIONS, *SMALL.split(), "--out", "runs/mine")
    said = wiser(folder, "calibrate", "runs/mine/model", ENV, *OPTIONS, "--rows", "2", "--steps", "20")
    assert "runs/mine/model" in said
    assert (folder / "runs" / "mine" / "model" / "calibration.json").is_file()
    return folder


def test_eval(trained) -> None:
    words = ("eval", "runs/mine/model", ENV, "--fault", "freeze", "--broken", "1", "--treatments", "none", "calibrated")
    said = wiser(trained, *words, "--record", "freeze.html", "--episodes", "2", "--processes", *OPTIONS)
    assert said.count("litres spilled 15.00") == 2, "three at each of five steps: the options have arrived"
    assert "Mine-v0" in (trained / "freeze.html").read_text()


def test_sweep_and_report(trained) -> None:
    wiser(trained, "sweep", "mine.yaml", "--workers", "1")
    ledger = Ledger.open(trained / "results" / "mine" / LEDGER)
    assert len(ledger.cells()) == 2 * 3
    assert {row["measures"] for row in ledger.rows()} == {'{"spilled": 15.0}'}
    wiser(trained, "report", "results/mine")
    figures = trained / "results" / "mine" / "figures"
    assert {path.stem for path in figures.glob("*.svg")} == {"failures", "failures-spilled", "resilience"}
    assert "### Mine-v0: litres spilled, clean and with 2 sensors broken" in (figures / "tables.md").read_text()


def test_cockpit(trained) -> None:
    pytest.importorskip("uvicorn", reason="pip install 'wiser-guard[cockpit]'")
    words = ("cockpit", "--agent", "runs/mine/model", "--env", ENV, *OPTIONS, "--no-open", "--port", "0")
    with start(trained, *words) as process:
        line = next(line for line in process.stdout if "http" in line)
        with urlopen(line.split()[4], timeout=60) as page:
            assert "<title>" in page.read().decode()
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert said.strip() == "The cockpit is closed."


def test_what_is_not_there_is_said_in_a_line(folder) -> None:
    with start(folder, "eval", "runs/mine/model", "mypkg.cave:Mine-v0") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert len(said.splitlines()) == 1
    assert "No module named 'mypkg.cave'" in said
