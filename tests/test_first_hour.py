"""What a new user gets wrong, or stops: one line that helps, an exit code, nothing left behind, never a traceback."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import wiser
from tests import fake_world, tiny
from wiser.cli import run
from wiser.evaluate.plan import Plan
from wiser.evaluate.treatments import Treatment
from wiser.rollout import Trial, calibrate, home_of
from wiser.train import checkpoint, log
from wiser.train.config import stack
from wiser.worldmodel.store import SHIPPED, save

ROOT = Path(__file__).parents[1]
KERNELS = "Compiling WISER's kernels"  # said once on a machine, which may be now
BOX = "For full helptext"  # the end of what tyro says of options it cannot read

# [without MODULE | Ctrl-C after SECONDS] what is typed => what must be said; Ctrl-C is 130, everything else 2
CASES = {
    "eval and calibrate": """
        eval => AGENT
        eval stop-sign/dropout => ENV
        eval stop-sign/dropout StopSign --methods greedy => --methods
        eval stop-sign/dropout StopSign --episodes many => 'many'
        eval stop-sign/dropuot StopSign => did you mean 'stop-sign/dropout'?
        eval stop-sign/dropout StopSin => did you mean 'StopSign'?
        eval stop-sign/dropout wiser/StopSign-v9 => wiser/StopSign-v0
        eval stop-sign/dropout nothing.here:X-v0 => No module named 'nothing'
        eval stop-sign/dropout StopSign --fault glair => did you mean 'glare'?
        eval stop-sign/dropout StopSign --treatments greeedy => did you mean 'greedy'?
        eval stop-sign/dropout StopSign --treatments => at least one treatment
        eval stop-sign/dropout StopSign --episodes 0 => episodes must be at least 1, got 0
        eval stop-sign/dropout StopSign --rows -2 => rows must be at least 1, got -2
        eval stop-sign/dropout StopSign --threads 0 => threads must be at least 1, got 0
        eval stop-sign/dropout StopSign --seed -1 => seed must be at least 0, got -1
        eval stop-sign/dropout StopSign --blind-limit -4 => blind_limit must be at least 0
        eval stop-sign/dropout StopSign --broken 3 => --fault
        eval stop-sign/dropout StopSign --broken 1 => --fault
        eval stop-sign/dropout StopSign --fault glare --broken 0 => at least 1, got 0
        eval stop-sign/dropout StopSign --fault glare --broken 7 => breaks 7 sensors, but glare can only break
        eval stop-sign/dropout StopSign --fault glare --intensity nan => intensity must be a number >= 0, got nan
        eval stop-sign/dropout StopSign --fault glare --intensity inf => intensity
        eval stop-sign/dropout StopSign --fault glare --proportion 1.5 => proportion must be a number from 0 to 1
        eval stop-sign/dropout StopSign --fault glare --onset -1 => onset
        eval stop-sign/dropout StopSign --record here.txt => .html
        eval stop-sign/dropout StopSign --record notes.txt/x.html => notes.txt
        eval stop-sign/dropout StopSign --record folder.html => folder
        eval stop-sign/dropout StopSign --env-options wings=2 => 'wings'
        eval stop-sign/dropout StopSign --env-options wings => KEY=VALUE
        eval stop-sign/dropout StopSign --env-options continuous=true => takes other actions than this agent chooses
        eval stop-sign/dropout CartPole-v1 => no sensor called birdeye_gt
        eval stranger StopSign => radar
        eval stranger CartPole-v1 => radar
        eval damaged StopSign => damaged
        eval torn StopSign => model.safetensors
        eval garbled StopSign => config.json
        [Ctrl-C after 1.5] eval stop-sign/dropout StopSign --record lag.html => Stopped.
        calibrate => AGENT
        calibrate nobody StopSign => no model at 'nobody'
        calibrate stop-sign/dropout CartPole-v1 => birdeye_gt
        calibrate stop-sign/dropout StopSign --rows 0 => rows must be at least 1
        calibrate stop-sign/dropout StopSign --steps 0 => steps must be at least 1
        calibrate stop-sign/dropout StopSign --beginnings -1 => beginnings must be at least 1
        calibrate stop-sign/dropout StopSign --seed -1 => seed must be at least 0
        calibrate stop-sign/dropout StopSign --out notes.txt/x.json => notes.txt
        [Ctrl-C after 1.5] calibrate stop-sign/dropout StopSign --out x.json => Stopped.
        calibrate stop-sign/dropout StopSign --scores charm => unknown score 'charm'
        eval stop-sign/single StopSign --treatments reject:score=charm => unknown score 'charm'
        eval stop-sign/single StopSign --treatments reject:denoiser=nowhere:mine => No module named 'nowhere'
        eval stop-sign/single StopSign --treatments reject:score=resnet18@x.pth => no weights of resnet18 at x.pth
        eval stop-sign/single StopSign --treatments reject:score=resnet18@notes.txt => notes.txt
        eval stop-sign/single StopSign --treatments reject:score => KEY=VALUE
        eval stop-sign/single StopSign --treatments reject:wings=2 => unknown fields ['wings']
        learn => WHAT
        learn wings stop-sign/single StopSign => wings
        learn resnet18 nobody StopSign => no model at 'nobody'
        learn resnet18 stop-sign/dropout StopSign => its images are birdeye_gt
        learn resnet18 stop-sign/dropout StopSign --sensor radar => no image 'radar'
        learn resnet18 stop-sign/single StopSign --frames 0 => frames must be at least 1
        learn resnet18 stop-sign/single StopSign --seed -1 => seed must be at least 0
        learn resnet18 stop-sign/single StopSign --network wings=2 => resnet18 has no settings ['wings']
        learn restormer stop-sign/single StopSign --network width=3 => width is a multiple of 2
        learn resnet18 stop-sign/single StopSign --out notes.txt/x => notes.txt
        learn resnet18 stop-sign/single CartPole-v1 --network width=2 => birdeye_wpt
        [Ctrl-C after 3] learn resnet18 stop-sign/single StopSign --out weights => Stopped.
    """,
    "demo, drive, faults and cockpit": """
        demo --agent nobody => no model at 'nobody'
        demo --env Nowhere => unknown task 'Nowhere'
        demo --fault rust => unknown fault 'rust'; there are gaussian
        demo --broken 0 => at least 1, got 0
        demo --broken 9 => breaks 9 sensors, but glare can only break
        demo --episodes 0 => episodes must be at least 1
        demo --out notes.txt => notes.txt
        demo --env CartPole-v1 => birdeye_gt
        [Ctrl-C after 1.5] demo => Stopped.
        drive => ENV
        drive Nowhere => unknown task 'Nowhere'
        drive CartPole-v1 => no scripted expert
        drive StopSign --seed -1 => seed must be at least 0
        drive StopSign --out x.html => .mp4 or .gif
        drive StopSign --out notes.txt/x.mp4 => notes.txt
        drive StopSign --env-options wings=1 => 'wings'
        [Ctrl-C after 1] drive StopSign => Stopped.
        faults --preset papre => did you mean 'paper'?
        faults --intensities nan => intensity must be finite
        faults --intensities => at least one intensity
        faults --seed -1 => seed must be at least 0
        faults --image nothing.png => nothing.png is not a readable picture
        faults --out x.strange => faults.png
        faults --out notes.txt/x.png => notes.txt
        [without uvicorn] cockpit --no-open => pip install 'wiser-guard[cockpit]'
        cockpit --no-open --env Nowhere => unknown task 'Nowhere'
        cockpit --no-open --agent nobody => no model at 'nobody'
        cockpit --no-open --left best => unknown treatment 'best'
        cockpit --no-open --seed -1 => seed
        cockpit --no-open --speed -1 => speed is a number from 0 to 200
        cockpit --no-open --speed nan => speed
        cockpit --no-open --threads 0 => threads must be at least 1
        cockpit --no-open --blind-limit -1 => blind_limit must be at least 0
        cockpit --no-open --port 99999 => a port is a number from 0 to 65535
        cockpit --no-open --host 0.0.0.0 => every network
        cockpit --no-open --env CartPole-v1 --agent stop-sign/dropout => birdeye_gt
        [Ctrl-C after 3] cockpit --no-open --port 0 => The cockpit is closed.
    """,
    "train, sweep and report": """
        train => Presets stack: augmented
        train nothing => no preset 'nothing'; there are
        train nan pure => did you mean 'nano'?
        train nano --wings 2 => --wings
        train nano pure => env
        train nano pure --env Nowhere-v0 => Nowhere
        train nano pure --env CartPole-v1 --sensors camera => no sensor called camera; there are observation
        train nano pure --env CartPole-v1 --size nao => did you mean 'nano'?
        train nano pure --env CartPole-v1 --variant strange => no variant 'strange'
        train nano pure --env CartPole-v1 --objective strange => no objective 'strange'
        train nano pure --env CartPole-v1 --device quantum => no device 'quantum' here, try cpu
        train nano pure --env CartPole-v1 --updates 0 => updates must be at least 1
        train nano pure --env CartPole-v1 --threads 0 => threads must be at least 1
        train nano pure --env CartPole-v1 --seed -1 => seed must be at least 0
        train nano pure --env CartPole-v1 --learning-rate nan => learning_rate must be a finite number
        train nano pure --env CartPole-v1 --capacity 1 => capacity must hold a sequence
        train nano pure --env CartPole-v1 --cloning 1.0 => no expert to learn from
        train nano pure --env CartPole-v1 --start nobody => no model at 'nobody'
        train nano pure --env CartPole-v1 --env-options wings=2 => 'wings'
        train nano pure --env CartPole-v1 --out notes.txt/run => notes.txt
        train nano pure --env CartPole-v1 --seed 5 --out run => another seed
        train --resume => --resume
        train --resume nowhere => nowhere is not a run
        train --resume unreadable => config.yaml
        train --resume run => state.safetensors is damaged
        train nano --resume run => leave out nano
        nothing => invalid choice: 'nothing'
        agents nothing => nothing
        doctor nothing => nothing
        sweep => PLAN
        sweep quik => did you mean 'quick'?
        sweep quick --workers 0 => workers must be at least 1
        sweep quick --episodes -5 => at least 1 episode
        sweep quick --engine cloud => cloud
        sweep quick --out notes.txt => notes.txt
        [without ray] sweep quick --engine ray => pip install 'wiser-guard[ray]'
        sweep plans/broken.yaml => plans/broken.yaml is not a plan
        sweep plans/picture.yaml => plans/picture.yaml is not a plan
        sweep plans/empty.yaml => names its tasks
        sweep plans/no-list.yaml => tasks of a plan is a list, as in tasks: [StopSign]
        sweep plans/no-numbers.yaml => plans/no-numbers.yaml is not a plan
        sweep plans/other-fields.yaml => unknown fields ['fault']
        sweep plans/nobody.yaml => a plan names contenders
        sweep plans/no-task.yaml => did you mean 'StopSign'?
        sweep plans/no-fault.yaml => did you mean 'glare'?
        sweep plans/no-treatment.yaml => did you mean 'greedy'?
        sweep plans/odd-treatment.yaml => a treatment is a mapping
        sweep plans/no-agent.yaml => no model at 'mine'
        sweep plans/too-many.yaml => breaks 7 sensors
        sweep plans/other-world.yaml => birdeye_gt
        sweep plans/nan.yaml => intensity must be
        report => name at least one folder of a sweep
        report nowhere => no ledger.sqlite in nowhere
        report . --out notes.txt => notes.txt
        report . --replays nowhere.html => nowhere.html
        report . --replays notes.html => not a replay page
    """,
}

GOOD = {"tasks": ["StopSign"], "agents": ["stop-sign/dropout"], "disturbances": ["glare"], "episodes": 1}
PLANS = {
    "empty": {},
    "no-list": {**GOOD, "tasks": "StopSign"},
    "no-numbers": {**GOOD, "episodes": "many"},
    "other-fields": {**GOOD, "fault": ["glare"]},
    "nobody": {**GOOD, "agents": []},
    "no-task": {**GOOD, "tasks": ["StopSing"]},
    "no-fault": {**GOOD, "disturbances": ["glair"]},
    "no-treatment": {**GOOD, "treatments": ["greeedy"]},
    "odd-treatment": {**GOOD, "treatments": {"mine": 3}},
    "no-agent": {**GOOD, "agents": ["mine"]},
    "too-many": {**GOOD, "failures": [7]},
    "other-world": {**GOOD, "tasks": ["CartPole-v1"]},
    "nan": {**GOOD, "intensities": [float("nan")]},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a file where a folder is wanted, agents and a run that cannot be used, and plans with mistakes."""
    place = tmp_path_factory.mktemp("place")
    (place / "notes.txt").write_text("mine")
    (place / "notes.html").write_text("mine")
    (place / "folder.html").mkdir()
    _agents(place)
    checkpoint.begin(place / "run", replace(stack(["nano", "pure"]), env="CartPole-v1"))
    (place / "run" / checkpoint.STATE).write_bytes(b"half of a")
    (place / "unreadable").mkdir()
    (place / "unreadable" / "config.yaml").write_text("updates: [")
    (place / "plans").mkdir()
    (place / "plans" / "broken.yaml").write_text("tasks: [")
    (place / "plans" / "picture.yaml").write_bytes(b"\x89PNG\xff")
    for name, plan in PLANS.items():
        (place / "plans" / f"{name}.yaml").write_text(yaml.safe_dump(plan))
    return place


def _agents(place: Path) -> None:
    model = tiny.model((tiny.image("radar"),))
    _, damaged, torn, garbled = (save(model, place / name) for name in ("stranger", "damaged", "torn", "garbled"))
    weights = bytearray((damaged / "model.safetensors").read_bytes())
    weights[-5] ^= 1
    (damaged / "model.safetensors").write_bytes(weights)
    (torn / "model.safetensors").write_bytes(weights[:1000])
    (garbled / "config.json").write_text("{")


def read(line: str) -> tuple[dict, str]:
    """A case for `tests.wrong_inputs`, and the words that must be said."""
    typed, _, said = line.strip().rpartition(" => ")
    how = re.match(r"\[(?:without (\w+)|Ctrl-C after ([\d.]+))\] ", typed)
    missing, after = how.groups() if how else (None, None)
    words = shlex.split(typed[how.end() :] if how else typed)
    return {"words": words, "without": missing or "", "after": float(after or 0)}, said


def python(*command: str, **options) -> subprocess.Popen:
    """A process of our own, as somebody starts it who has this library installed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "COLUMNS": "80"}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([sys.executable, *command], env=environment, text=True, **{**pipes, **options})


@pytest.mark.parametrize("group", CASES)
def test_one_line_says_what_to_do(group, place) -> None:
    cases = [read(line) for line in CASES[group].strip().splitlines()]
    process = python("-m", "tests.wrong_inputs", cwd=place)
    said, beside = process.communicate("\n".join(json.dumps(case) for case, _ in cases))
    assert process.returncode == 0, beside
    assert beside == "", "a library spoke past the command"
    outcomes = [json.loads(line) for line in said.splitlines()]
    wrong = {
        shlex.join(case["words"]): problems
        for (case, words), outcome in zip(cases, outcomes, strict=True)
        if (problems := complaints(outcome, words, 130 if case["after"] else 2))
    }
    assert not wrong, json.dumps(wrong, indent=2)


def complaints(outcome: dict, words: str, code: int) -> list[str]:
    """What is wrong with an outcome."""
    said = [line for line in outcome["err"].splitlines() if line.strip() and not line.startswith(KERNELS)]
    text = " ".join(" ".join(said).split())
    checks = {
        f"code {outcome['code']}": outcome["code"] == code,
        f"says {outcome['err']!r}": words in text,
        f"says too much: {outcome['err']!r}": len(said) <= (12 if BOX in text else 2),
        "traceback": "Traceback" not in outcome["err"] + outcome["out"],
        f"touched {outcome['touched']}": not outcome["touched"],
    }
    return [problem for problem, fine in checks.items() if not fine]


def test_there_are_enough_cases() -> None:
    assert sum(len(lines.strip().splitlines()) for lines in CASES.values()) >= 60


def interrupt(process: subprocess.Popen) -> tuple[int, str]:
    """Ctrl-C, which a terminal sends to the command and to all its workers; exit code and what is said."""
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return process.returncode, "".join(line for line in said.splitlines(True) if not line.startswith(KERNELS))


def alive(group: int) -> list[str]:
    """Processes of a group that are still there a moment later."""
    listed: list[str] = []
    for _ in range(50):
        table = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
        rows = [line.split(None, 2) for line in table.splitlines()]
        listed = [args for pgid, state, *args in rows if pgid == str(group) and not state.startswith("Z")]
        if not listed:
            break
        time.sleep(0.1)
    return listed


def wait_for(path: Path, process: subprocess.Popen) -> None:
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


@pytest.mark.parametrize("later", [0.0, 4.0])
def test_a_sweep_stops_with_its_workers(later, tmp_path) -> None:
    """While its workers start, and while they drive."""
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump({**GOOD, "failures": [0, 1], "episodes": 400}))
    process = python("-m", "wiser", "sweep", "plan.yaml", cwd=tmp_path, start_new_session=True)
    wait_for(tmp_path / "results" / "plan" / "ledger.sqlite", process)
    time.sleep(later)
    assert interrupt(process) == (130, "Stopped. The same command goes on from here.\n")
    assert not alive(process.pid)


def test_a_run_stops_with_its_processes(tmp_path) -> None:
    small = "--updates 4000 --rows 2 --segment 1 --evaluate-every 4000 --batch 2 --length 8 --processes --out run"
    command = ["-m", "wiser", "train", "nano", "pure", "--env", "CartPole-v1", *small.split()]
    process = python(*command, cwd=tmp_path, start_new_session=True)
    wait_for(tmp_path / "run" / checkpoint.STATE, process)
    assert interrupt(process) == (130, "Stopped. Go on with: wiser train --resume run\n")
    assert not alive(process.pid)


def test_a_command_that_has_hardly_begun_can_be_stopped(tmp_path) -> None:
    process = python("-X", "importtime", "-m", "wiser", "agents", cwd=tmp_path, start_new_session=True)
    assert process.stderr is not None
    while "tyro" not in process.stderr.readline():
        assert process.poll() is None
    code, said = interrupt(process)
    assert code == 130
    assert "Traceback" not in said


def test_a_reader_that_leaves_is_no_mistake(place) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = python("-m", "wiser", "faults", "--out", "faults.png", cwd=place, stdout=writer)
    os.close(writer)
    assert process.communicate() == (None, "")
    assert process.returncode == 1
    (place / "faults.png").unlink()


def test_the_console_script_names_itself(place) -> None:
    script = "import sys; sys.argv = ['/usr/bin/wiser', 'nothing']; from wiser.cli import main; main()"
    process = python("-c", script, cwd=place)
    _, said = process.communicate()
    assert process.returncode == 2
    assert said.startswith("usage: wiser COMMAND ...\nwiser: error: ")


def trained(folder: Path, *more: str) -> list[str]:
    """The words that train a small agent in a fake world."""
    small = "--rows 2 --batch 2 --length 4 --prefill 5 --imagine-steps 3 --capacity 400 --evaluate-episodes 2"
    world = ["--env", fake_world.VECTOR]
    return ["train", "nano", "pure", *world, *small.split(), "--log-every", "1", "--out", str(folder), *more]


def test_a_run_is_extended(tmp_path, capsys) -> None:
    folder = tmp_path / "run"
    assert run(trained(folder, "--updates", "2")) == 0
    assert run(["train", "--resume", str(folder), "--updates", "4"]) == 0
    assert [line["update"] for line in log.read(folder) if "rate" in line] == [1, 2, 3, 4]
    assert (checkpoint.config_of(folder).updates, home_of(folder / "model")) == (4, fake_world.VECTOR)
    capsys.readouterr()
    assert run(trained(folder, "--updates", "2", "--seed", "1")) == 2
    assert "another seed" in capsys.readouterr().err.replace("\n", " ")


def test_a_start_that_failed_does_not_stand_in_the_way(tmp_path) -> None:
    folder = tmp_path / "run"
    checkpoint.begin(folder, stack(["nano", "pure"]))
    assert run(trained(folder, "--updates", "1")) == 0


@pytest.mark.parametrize(
    ("agent", "env", "away"),
    [
        ("right-turn/dropout", "StopSign", True),
        ("stop-sign/dropout", "wiser/StopSign-v0", False),
        ("copy", "StopSign", False),
    ],
)
def test_an_agent_away_from_home_is_mentioned(agent, env, away, tmp_path, monkeypatch, capsys) -> None:
    """Where the spaces fit and the task differs; nothing is said where it is not known where an agent was trained."""
    (tmp_path / "copy").mkdir()
    for name in ("config.json", "model.safetensors"):
        (tmp_path / "copy" / name).write_bytes((SHIPPED / "right-turn" / "dropout" / name).read_bytes())
    (tmp_path / "copy" / "training.yaml").write_text("env: [")
    monkeypatch.chdir(tmp_path)
    assert run(["eval", agent, env, "--episodes", "1", "--treatments", "none"]) == 0
    said = capsys.readouterr().err
    assert said.count("was trained in wiser/RightTurn-v0 and drives in wiser/StopSign-v0") == away
    assert bool(said) == away


FITTING = tiny.model(*fake_world.described(), tower="patch")


@pytest.mark.parametrize(("mistake", "words"), [
    (lambda: wiser.load("stop-sign/dropuot"), "did you mean 'stop-sign/dropout'"),
    (lambda: wiser.benchmark(FITTING, fake_world.VECTOR, [], ()), "at least one treatment"),
    (lambda: wiser.benchmark(FITTING, fake_world.VECTOR, [], episodes=0), "episodes must be at least 1"),
    (lambda: wiser.benchmark(FITTING, fake_world.VECTOR, [], seed=-1), "seed must be at least 0"),
    (lambda: wiser.benchmark(FITTING, fake_world.VECTOR, [], ("calibrated",)), "calibrat"),
    (lambda: wiser.benchmark(FITTING, "StopSign", []), "no sensor called"),
    (lambda: calibrate(FITTING, fake_world.VECTOR, rows=0), "rows must be at least 1"),
    (lambda: Trial(fake_world.VECTOR, 1, -1), "seed must be at least 0"),
    (lambda: Treatment(blind_limit=-1), "blind_limit must be at least 0"),
    (lambda: Plan.from_dict({**GOOD, "intensities": []}), "without intensities"),
])  # fmt: skip
def test_the_library_says_the_same(mistake, words) -> None:
    with pytest.raises(ValueError, match=words):
        mistake()
