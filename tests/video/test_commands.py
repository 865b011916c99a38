"""`wiser video` from a video to a table, on the real classes; and without the extra."""

import csv
import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("diffusers")
pytest.importorskip("av")
from tests.video.tiny_cosmos import save_tiny
from tests.video.worlds import moving_blob
from wiser.cli import run
from wiser.guard import Calibration
from wiser.video.clips import read_clip, write_clip

SUBCOMMANDS = {
    "corrupt": ["--fault", "glare"], "calibrate": ["--model", "copy"], "gate": ["--model", "copy"],
    "generate": ["--model", "copy"], "score": ["--truth", "."], "table": ["--model", "copy"],
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a tiny model, calibrated, and two videos, one of them broken."""
    place = tmp_path_factory.mktemp("video")
    save_tiny(place / "model")
    (place / "clips").mkdir()
    for seed in (0, 1):
        frames = moving_blob(17, seed).repeat(2, 1).repeat(2, 2)  # 32 x 32
        write_clip(place / "clips" / f"clip{seed}.mp4", frames, Fraction(16))
    assert video(place, "calibrate", "clips", *asked(place), "--frames", "2") == 0
    assert video(place, "corrupt", "clips/clip0.mp4", "--fault", "occlusion", "--out", "broken") == 0
    return place


def asked(place: Path) -> list[str]:
    sizes = "--height 32 --width 32 --clip 9 --steps 1 --guidance 1 --denoise-steps 1"
    return ["--model", str(place / "model"), *sizes.split()]


def video(place: Path, *words: str) -> int:
    """A command in that folder."""
    here = [str(place / word) if (place / word.split("/")[0]).exists() or before in ("--out", "--truth") else word
            for before, word in zip(("", *words), words, strict=False)]  # fmt: skip
    return run(["video", *here])


def test_a_broken_video_comes_with_a_note_of_what_is_broken(place):
    note = json.loads((place / "broken/clip0.json").read_text())
    assert (note["fault"], len(note["broken"])) == ("occlusion", int(17 * 0.75))
    clean, broken = (read_clip(place / folder / "clip0.mp4").frames.astype(int) for folder in ("clips", "broken"))
    harmed = np.abs(clean - broken).max((1, 2, 3)) > 60
    assert np.flatnonzero(harmed).tolist() == note["broken"]


def test_an_array_is_broken_without_a_codec(tmp_path):
    """Frames that are not broken come back to the byte."""
    frames = moving_blob(8, 0)
    np.save(tmp_path / "a.npy", frames)
    assert run(["video", "corrupt", str(tmp_path / "a.npy"), "--fault", "glare", "--out", str(tmp_path / "out")]) == 0
    broken = json.loads((tmp_path / "out/a.json").read_text())["broken"]
    changed = (np.load(tmp_path / "out/a.npy") != frames).any((1, 2, 3))
    assert np.flatnonzero(changed).tolist() == broken
    assert len(broken) == 6


def test_the_gate_writes_what_stands_for_each_frame_and_why(place):
    assert video(place, "gate", "broken", *asked(place), "--out", "gated") == 0
    note = json.loads((place / "gated/clip0.json").read_text())
    verdicts = note["gates"]["paper"]
    assert [verdict["frame"] for verdict in verdicts] == list(range(12, 17))
    assert all(verdict["why"] or verdict["mode"] == "GROUNDED" for verdict in verdicts)
    assert {path.suffix for path in (place / "gated").iterdir()} == {".mp4", ".png", ".html", ".json"}
    assert len(read_clip(place / "gated/clip0.mp4").frames) == 17


def test_what_is_generated_is_not_generated_again_and_can_be_scored(place, capsys):
    assert video(place, "corrupt", "clips/clip0.mp4", "--fault", "glare", "--given", "13", "--out", "cut") == 0
    command = ["generate", "cut", *asked(place), "--count", "4", "--out", "made"]
    assert video(place, *command) == 0
    made = {path: path.stat().st_mtime_ns for path in (place / "made").iterdir()}
    assert {path.name for path in made} == {
        "clip0.none.mp4", "clip0.paper.mp4", "clip0.png", "clip0.html", "clip0.json"
    }  # fmt: skip
    assert len(read_clip(place / "made/clip0.paper.mp4").frames) == 4
    assert video(place, *command) == 0
    assert {path: path.stat().st_mtime_ns for path in (place / "made").iterdir()} == made
    capsys.readouterr()
    assert video(place, "score", "made", "--truth", "clips", "--out", "scores") == 0
    assert "psnr" in capsys.readouterr().out
    rows = list(csv.DictReader((place / "scores/scores.csv").open()))
    assert [row["clip"] for row in rows] == ["clip0.none.mp4", "clip0.paper.mp4"]
    assert all(float(row["psnr"]) > 0 for row in rows)


def test_a_video_that_is_too_short_is_told(place, capsys):
    assert video(place, "corrupt", "clips", "--fault", "glare", "--given", "18", "--out", "short") == 2
    assert "clip0.mp4 has 17 frames, not 18: lower --given" in capsys.readouterr().err


def test_what_is_generated_is_compared_with_what_came_after_the_given_frames(place, capsys):
    """PSNR by hand, of frames 12 to 15 of the clip, which are none that were given."""
    copy = ["--model", "copy", "--height", "32", "--width", "32", "--gates", "none", "--count", "4"]
    broken = ["--fault", "gaussian", "--intensity", "0.3"]
    assert video(place, "corrupt", "clips", *broken, "--given", "12", "--out", "begun") == 0
    assert video(place, "generate", "begun", *copy, "--out", "ahead") == 0
    assert video(place, "score", "ahead", "--truth", "clips", "--out", "later") == 0
    for row in csv.DictReader((place / "later/scores.csv").open()):
        made = read_clip(place / "ahead" / row["clip"]).frames / 255.0
        truth = read_clip(place / "clips" / row["clip"].replace("none.", "")).frames[12:16] / 255.0
        errors = np.square(made - truth).mean((1, 2, 3))
        assert float(row["psnr"]) == pytest.approx((-10 * np.log10(errors)).mean(), rel=1e-4)
    assert video(place, "corrupt", "clips", *broken, "--out", "whole") == 0
    assert video(place, "generate", "whole", *copy, "--out", "beyond") == 0
    capsys.readouterr()
    assert video(place, "score", "beyond", "--truth", "clips", "--out", "never") == 2
    told = capsys.readouterr().err
    assert "goes on after 17 frames" in told
    assert "--given" in told


def test_the_table_is_made_from_many_clips(place, capsys):
    sizes = ["--given", "6", "--horizon", "4", "--seeds", "1", "--faults", "glare", "--k", "2"]
    assert video(place, "table", "clips", *asked(place), *sizes, "--out", "table") == 0
    assert "2 clips" in capsys.readouterr().out
    rows = list(csv.DictReader((place / "table/trials.csv").open()))
    assert len(rows) == 2 * 2 * 4  # clips, clean and glare, none and three gates
    assert (place / "table/video.png").stat().st_size > 0
    known = Calibration.load(place / "model")
    said = (place / "table/table.md").read_text().partition("\n")[0].rstrip(".").split("; ")
    score = known.scores["next_frame"]
    assert {
        "condition 5", "judged 5", "k 2", "sigma 0.3", f"tau {score.mean + 2 * score.std:.4g}", "steps 1", "clip 9",
        "guidance 1", f"calibration {known.digest[:12]}",
    } <= set(said)  # fmt: skip


def test_the_authors_gate_goes_on_from_one_frame_as_all_with_it(place, capsys):
    words = ["generate", "clips", *asked(place), "--gates", "none", "authors", "--count", "1", "--out", "authors"]
    assert video(place, *words) == 2
    assert "--condition 1" in capsys.readouterr().err
    assert video(place, *words, "--condition", "1") == 0
    assert (place / "authors/clip1.authors.mp4").is_file()


@pytest.mark.parametrize(("words", "said"), [
    (["gate", "nowhere.mp4", "--model", "copy", "--out", "x"], "no video nowhere.mp4"),
    (["gate", "clips", "--model", "copy", "--out", "x"], "no calibration in copy"),
    (["gate", "clips", "--model", "copy", "--gate", "papre", "--out", "x"], "did you mean 'paper'"),
    (["score", "clips", "--out", "x"], "nothing to score by"),
    (["score", "clips", "--scorer", "no.such:thing", "--out", "x"], "no scorer 'no.such:thing'"),
    (["corrupt", "clips", "--fault", "glaer", "--out", "x"], "did you mean 'glare'"),
    (["corrupt", "clips", "--fault", "glare", "--out", "clips"], "is the folder of the clips themselves"),
    (["corrupt", "clips", "--fault", "glare", "--given", "0", "--out", "x"], "given must be at least 1"),
    (["calibrate", "clips", "--model", "copy"], "name one with --out"),
])  # fmt: skip
def test_mistakes_are_one_line(place, capsys, words, said):
    assert video(place, *words) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.strip().splitlines()) == 1


@pytest.mark.parametrize("module", ["av", "diffusers", "transformers"])
@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_without_the_extra_every_command_says_what_to_install(monkeypatch, tmp_path, capsys, command, module):
    monkeypatch.setitem(sys.modules, module, None)
    out = [] if command == "calibrate" else ["--out", str(tmp_path)]
    assert run(["video", command, str(tmp_path), *SUBCOMMANDS[command], *out]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1
    assert "pip install 'wiser-guard[cosmos]'" in told[0]
