"""The demo, shortened: it runs from nothing, its world is what it says, and its model can be loaded."""

import subprocess
import sys

import numpy as np

import wiser
from wiser.demo import Demo, demo
from wiser.demo.puck import PuckWorld, locate
from wiser.guard import Guard


def test_runs_and_leaves_a_model_that_loads(tmp_path, capsys) -> None:
    demo(Demo(out=tmp_path, updates=3, threads=1))
    assert "glare" in capsys.readouterr().out
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    obs, _ = PuckWorld(1).reset(seed=0)
    action, verdict = Guard(wiser.load(tmp_path / "puck")).act({name: x[0] for name, x in obs.items()})
    assert 0 <= action < 5
    assert verdict.sensors == ("overhead", "side", "zoom", "range")


def test_pictures_show_the_puck_where_it_is() -> None:
    world = PuckWorld(32)
    obs, _ = world.reset(seed=0)
    for _ in range(20):
        np.testing.assert_allclose(locate(obs["overhead"] / 255), world.position, atol=0.03)
        x, y = world.position.T
        np.testing.assert_allclose(obs["range"], np.stack([1 - x, 1 + x, 1 - y, 1 + y], 1), atol=1e-6)
        obs = world.step(np.random.default_rng(0).integers(0, 5, 32))[0]


def test_rows_depend_on_their_own_seed() -> None:
    together, alone = PuckWorld(4), PuckWorld(1)
    obs, _ = together.reset(seed=10)
    single, _ = alone.reset(seed=12)
    for _ in range(5):
        assert all(np.array_equal(obs[name][2], single[name][0]) for name in obs)
        obs, single = together.step(np.full(4, 1))[0], alone.step(np.full(1, 1))[0]


def test_command_line_lists_its_commands() -> None:
    shown = subprocess.run([sys.executable, "-m", "wiser.cli", "--help"], capture_output=True, text=True, check=True)
    assert all(name in shown.stdout for name in ("demo", "drive", "doctor", "faults", "train"))
