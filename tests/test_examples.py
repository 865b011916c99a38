"""The examples run, and what they show is so."""

import runpy
from pathlib import Path

import pytest

from wiser.cli import run

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def example(name: str) -> dict:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("own_*.py")), ids=lambda path: path.stem)
def test_they_are_short(path) -> None:
    assert len(path.read_text().splitlines()) < 80


def test_own_environment(tmp_path, capsys) -> None:
    """A few updates teach nothing, but every step of the way is taken."""
    example("own_env")["main"](updates=2, episodes=8, out=tmp_path / "run")
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines()].count("camera") == 3
    assert "sonar stuck" in said
    assert (tmp_path / "run" / "model" / "calibration.json").is_file()


def test_own_model_with_a_beacon_that_lies() -> None:
    drive = example("own_model")["drive"]
    unguarded, guarded = (sum(drive(judge, seed=seed) for seed in range(5)) / 5 for judge in ("none", "greedy"))
    assert guarded > unguarded + 0.1


def test_own_fault_and_own_judge() -> None:
    foggy = example("own_fault")["main"](episodes=2)
    assert [row.scenario for row in foggy][-1] == "fog 1 on 4 sensors, from step 20"
    assert foggy[2].score != foggy[0].score
    judged = example("own_judge")["main"](episodes=2)
    assert [row.treatment for row in judged] == ["none", "greedy", "resentful"] * 2


def test_own_score_and_denoiser(monkeypatch, capsys) -> None:
    found = example("own_score")
    judged = found["main"](episodes=2)
    assert [row.treatment for row in judged] == ["none", "reject", "own"] * 2
    assert judged[5].score != judged[3].score, "it decides otherwise than nobody"
    monkeypatch.chdir(EXAMPLES)
    named = "reject:score=own_score:dull,denoiser=own_score:stretched,transitions=keep"
    words = "eval stop-sign/single StopSign --fault glare --proportion 0.75 --intensity 0.8 --episodes 2 --treatments"
    assert run([*words.split(), "none", named]) == 0
    assert named in " ".join(capsys.readouterr().out.split())
