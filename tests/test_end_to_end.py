"""A foreign world, in several forms, all the way: train, calibrate, evaluate, sweep, report, cockpit."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import fake_world
from tests.fake_world import cost_of, reward_of
from wiser.cockpit import Choice, Session
from wiser.commands.calibrate import calibrate
from wiser.commands.evaluate import evaluate
from wiser.commands.report import report
from wiser.commands.train import train
from wiser.evaluate.jobs import run_jobs
from wiser.evaluate.plan import Plan
from wiser.evaluate.sweep import run_plan
from wiser.guard import Mode
from wiser.options import to_words
from wiser.train import log

SMALL = "--updates 2 --rows 2 --batch 2 --length 4 --prefill 5 --imagine-steps 3 --capacity 400 --evaluate-episodes 2"
ENDS = {"staggered": True, "ends": [[8, "dies"], [6, "is cut off"]]}
OWN = {"none": {}, "careful": {"judge": "calibrated", "blind_limit": 2, "health": {"frozen_after": 2}}}


@dataclass(frozen=True)
class Form:
    """What a world is like, and what must come of that."""

    env: str
    sensors: tuple[str, ...]
    measures: tuple[str, ...] = ("success",)
    options: dict[str, Any] = field(default_factory=dict)
    taught: tuple[str, ...] = ()
    novelties: tuple[str, ...] = ()


FORMS = {
    "discrete vector with an expert": Form(
        fake_world.VECTOR, ("glow", "where"), taught=("--cloning", "1", "--expert-share", "0.5"), novelties=("dusk",)
    ),
    "continuous, single, with a cost": Form(
        fake_world.SINGLE, ("glow", "where"), ("cost", "success"), {"continuous": True, "costly": True}
    ),
    "a single Box": Form(fake_world.SINGLE, ("observation",), options={"sensors": ["where"], "boxed": True}),
    "one image": Form(fake_world.SINGLE, ("glow",), options={"sensors": ["glow"]}),
}


@dataclass(frozen=True)
class Trained:
    """A form with an agent that was trained and calibrated there."""

    form: Form
    options: dict[str, Any]
    folder: Path

    @property
    def agent(self) -> str:
        return str(self.folder / "run" / "model")


@pytest.fixture(scope="module", params=FORMS)
def trained(request, tmp_path_factory) -> Trained:
    form, folder = FORMS[request.param], tmp_path_factory.mktemp("foreign")
    it = Trained(form, {**ENDS, **form.options}, folder)
    arguments = ["nano", "pure", "dropout", "--env", form.env, "--env-options", *to_words(it.options)]
    assert train([*arguments, *SMALL.split(), *form.taught, "--out", str(folder / "run")]) == 0
    assert calibrate(it.agent, form.env, rows=2, steps=20, beginnings=4, env_options=it.options) == 0
    return it


def test_training_measures_what_the_world_tells(trained) -> None:
    last = log.read(trained.folder / "run")[-1]
    assert last["update"] == 2
    assert {"score", "length", *trained.form.measures} <= set(last)
    assert Path(trained.agent, "calibration.json").is_file()


def test_eval_compares_and_records(trained, capsys) -> None:
    page = trained.folder / "freeze.html"
    assert (
        evaluate(
            trained.agent, trained.form.env, ("none", "calibrated"), fault="freeze", onset=2, episodes=2,
            env_options=trained.options, record=page,
        )
        == 0
    )  # fmt: skip
    first, second, recorded = capsys.readouterr().out.splitlines()
    assert first.startswith("none ")
    assert second.startswith("calibrated ")
    assert all(f", {measure} " in first for measure in trained.form.measures)
    assert recorded == f"Recorded: {page}"
    assert trained.form.env in page.read_text()


class Here:
    """Runs the cells of a sweep in this process."""

    def run(self, jobs: Any) -> Iterator[Any]:
        for job in jobs:
            yield from run_jobs([job])


@pytest.fixture(scope="module")
def swept(trained):
    """The ledger of a plan in a file: the agent's folder, treatments and options of its own."""
    plan = {
        "tasks": [trained.form.env], "agents": [trained.agent], "treatments": OWN, "options": trained.options,
        "disturbances": ["freeze", "missing", *trained.form.novelties], "episodes": 2,
        "failures": list(range(1 + len(trained.form.sensors))),
    }  # fmt: skip
    path = trained.folder / "mine.yaml"
    path.write_text(yaml.safe_dump(plan))
    return run_plan(Plan.read(str(path)), trained.folder / "mine", Here(), True)


def test_the_ledger_has_what_happened(trained, swept) -> None:
    rows = swept.cells()
    assert {row["contender"] for row in rows} == set(OWN)
    assert {row["disturbance"] for row in rows} == {"none", "freeze", "missing", *trained.form.novelties}
    for row in rows:
        for episode in swept.episodes(row["key"]):
            steps, place = range(1, episode.length + 1), (episode.env_seed, 0)
            assert (episode.length, episode.outcome) == [(8, "over"), (6, "success")][episode.env_seed % 2]
            assert episode.score == sum(reward_of(*place, step) for step in steps)
            assert set(episode.measures) == set(trained.form.measures)
            assert episode.measures["success"] == (episode.outcome == "success")
            assert episode.measures.get("cost", 0) in (0, sum(cost_of(*place, step) for step in steps))
            assert len(episode.failed) == (1 if row["disturbance"] == "dusk" else row["failures"])
            if row["disturbance"] == "missing" and len(episode.failed) == len(trained.form.sensors):
                assert ("fallback" in episode.modes) == (row["contender"] == "careful"), "it has a blind limit"


def test_the_report_shows_every_measure(trained, swept) -> None:
    assert report((trained.folder / "mine",)) == 0
    figures = trained.folder / "mine" / "figures"
    shown = {"failures", *(f"failures-{measure}" for measure in trained.form.measures)}
    assert {path.stem for path in figures.glob("*.svg")} == shown
    tables, page = (figures / "tables.md").read_text(), (figures / "report.html").read_text()
    for text in (tables, page):
        assert "Dashed" not in text, "nobody knows an expert's score here"
        assert "Not in the ledger" not in text
    for name in (*OWN, "freeze", *trained.form.novelties):
        assert name in page
    for measure in ("score", *trained.form.measures):
        assert f": {measure}, clean and with {len(trained.form.sensors)} sensor" in tables


def test_the_cockpit_breaks_it_until_it_is_blind(trained) -> None:
    choice = Choice(trained.form.env, trained.agent, "none", "greedy", 4, blind_limit=2, env_options=trained.options)
    session = Session(choice)
    session.step()
    for sensor in trained.form.sensors:
        session.break_sensor(sensor, "missing")
    modes = [[step.verdict.mode for step in session.step()] for _ in range(4)]
    assert [left for left, _ in modes] == [Mode.GROUNDED, Mode.PREDICTIVE, Mode.PREDICTIVE, Mode.FALLBACK]
    assert modes[-1] == [Mode.FALLBACK, Mode.FALLBACK]
    if trained.form.novelties:  # this one's domain has a safe action too
        assert session.sides[1].env.unwrapped.envs[0].unwrapped.action == [1]
    session.heal_sensor()
    assert [session.step()[0].verdict.mode for _ in range(2)] == [Mode.FALLBACK, Mode.GROUNDED]
    assert [lane.name for lane in session.recording().lanes] == ["unguarded", "guarded"]
    assert "--env-options" in session.recording().about.command
    session.step()
    assert [side.outcome for side in session.sides] == ["over", "over"]
    session.close()
