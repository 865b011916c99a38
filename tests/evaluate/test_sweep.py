"""A sweep gives the same ledger on every engine, however often it is killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from wiser.commands.sweep import sweep
from wiser.evaluate import jobs as module
from wiser.evaluate.jobs import run_jobs
from wiser.evaluate.ledger import LEDGER, Ledger
from wiser.evaluate.plan import Plan, disturbance_of
from wiser.evaluate.treatments import TREATMENTS, Treatment
from wiser.faults import Scenario
from wiser.guard import Calibration, Greedy, Health, Rejection, Witnesses
from wiser.worldmodel.store import load

PLAN = {
    "tasks": ["StopSign"], "contenders": ["dropout", "confident"], "disturbances": ["glare", "missing"],
    "failures": [0, 2, 5], "episodes": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def plan(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("plan") / "plan.yaml"
    path.write_text(yaml.safe_dump(PLAN))
    return path


@pytest.fixture(scope="module")
def uninterrupted(plan, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    assert sweep(str(plan), folder, workers=1) == 0
    return folder


def fingerprint(folder: Path) -> str:
    return Ledger.open(folder / LEDGER).fingerprint()


def test_a_plan_is_a_grid_with_one_clean_cell(plan) -> None:
    cells = [job.cell for job in Plan.read(str(plan)).jobs()]
    assert len(cells) == 2 * (1 + 2 * 2)
    assert [cell.contender for cell in cells if cell.clean] == ["dropout", "confident"]
    assert len({cell.key for cell in cells}) == len(cells)


def test_presets_are_the_grids_of_the_paper() -> None:
    multi, single = Plan.read("driving-multi"), Plan.read("driving-single")
    settings = len(multi.tasks) * len(multi.disturbances) * len(multi.failures)
    assert (settings, len(multi.contenders), multi.episodes) == (108, 6, 30)
    surface = len(single.disturbances) * len(single.intensities) * len(single.proportions)
    assert (surface, len(single.contenders), single.episodes) == (80, 5, 30)


def test_a_cell_knows_how_its_sensors_were_treated(monkeypatch) -> None:
    """Other settings or other thresholds under an old name are other cells: a ledger must not call them done."""
    values = {**PLAN, "contenders": ["dropout", "confident", "calibrated", "reject"], "failures": [0]}

    def keys() -> list[str]:
        return [job.cell.key for job in Plan.from_dict(values).jobs()]

    before = keys()
    monkeypatch.setitem(TREATMENTS, "greedy", Treatment(Greedy(depth=2)))
    monkeypatch.setitem(TREATMENTS, "reject", Treatment(Rejection(k=4.0)))
    assert [old == new for old, new in zip(before, keys(), strict=True)] == [True, False, True, False]
    monkeypatch.undo()
    other = Calibration.of({"surprise": np.arange(3.0)})
    monkeypatch.setattr("wiser.guard.judges.beside", lambda folder, digest: other)
    assert [old == new for old, new in zip(before, keys(), strict=True)] == [True, True, False, False]
    monkeypatch.undo()
    for change in ({"blind_limit": 9}, {"median": True}, {"health": Health(frozen_after=5)}):
        monkeypatch.setitem(TREATMENTS, "greedy", Treatment("greedy", **change))
        assert [old == new for old, new in zip(before, keys(), strict=True)] == [True, False, True, True]


def test_any_agent_can_be_swept_under_treatments_of_the_plan_itself() -> None:
    own = {"tasks": ["wiser/StopSign-v0"], "agents": ["stop-sign/dropout"], "failures": [0, 1], "disturbances": ["lag"]}
    settings = {"none": {}, "careful": {"judge": "greedy", "blind_limit": 3, "health": {"frozen_after": 9}}}
    plan = Plan.from_dict({**own, "treatments": settings, "options": {"cars": 2}})
    jobs = plan.jobs()
    assert [job.cell.contender for job in jobs] == ["none", "none", "careful", "careful"]
    assert jobs[2].treatment == Treatment("greedy", blind_limit=3, health=Health(frozen_after=9))
    assert {job.agent for job in jobs} == {"stop-sign/dropout"}
    assert {job.cell.options for job in jobs} == {'{"cars": 2}'}
    assert list(Plan.from_dict(own).named()) == ["stop-sign/dropout"]
    agents = ["stop-sign/base", "stop-sign/dropout"]
    several = Plan.from_dict({**own, "agents": agents, "treatments": ["none", "greedy"]})
    assert list(several.named()) == [
        "stop-sign/base none", "stop-sign/base greedy", "stop-sign/dropout none", "stop-sign/dropout greedy"
    ]  # fmt: skip


def test_a_plan_may_set_what_a_judge_can_be_told() -> None:
    lasting = Treatment.from_dict({"judge": {"witnesses": {"lasting": False}}})
    assert lasting.judge == Witnesses(lasting=False)
    assert Treatment.from_dict({"judge": {"greedy": {"depth": 2}}}).judge == Greedy(depth=2)
    with pytest.raises(ValueError, match=r"unknown fields .'last'. of judge 'witnesses'"):
        Treatment.from_dict({"judge": {"witnesses": {"last": False}}})
    with pytest.raises(ValueError, match="unknown judge 'witness'"):
        Treatment.from_dict({"judge": {"witness": {}}})
    with pytest.raises(ValueError, match="a judge with settings is"):
        Treatment.from_dict({"judge": {"greedy": {}, "none": {}}})


def test_an_agent_that_was_trained_again_has_cells_of_its_own(monkeypatch) -> None:
    named = []
    for digest in ("0" * 64, "1" * 64):
        monkeypatch.setattr("wiser.evaluate.plan.find_agent", lambda name, to=digest: SimpleNamespace(digest=to))
        named.append(Plan.from_dict({"tasks": ["StopSign"], "agents": ["mine"], "failures": [0]}).jobs()[0].cell)
    assert [cell.agent for cell in named] == ["mine@" + "0" * 16, "mine@" + "1" * 16]


def test_agents_of_other_training_runs_have_cells_of_their_own(tmp_path) -> None:
    other = tmp_path / "second" / "stop-sign" / "dropout"
    shutil.copytree(load("stop-sign/dropout").folder, other)
    plan = Plan(
        tasks=("StopSign",), contenders=("dropout",), failures=(0,), training_runs=("shipped", str(other.parents[1]))
    )
    first, second = plan.jobs()
    assert (first.cell.run, second.cell.run) == (0, 1)
    assert (first.agent, Path(second.agent)) == ("stop-sign/dropout", other)
    assert second.cell.agent.startswith("stop-sign/dropout#1@")
    assert first.cell.key != second.cell.key
    with pytest.raises(ValueError, match="nowhere"):
        Plan(tasks=("StopSign",), contenders=("dropout",), failures=(0,), training_runs=("nowhere",)).jobs()


def test_seeds_of_a_plan_stay_in_their_range() -> None:
    assert Plan.from_dict({**PLAN, "seeds": [99]}).seeds == (99,)
    with pytest.raises(ValueError, match="0 to 99"):
        Plan.from_dict({**PLAN, "seeds": [100]})


def test_mistakes_in_a_plan_are_named(tmp_path) -> None:
    with pytest.raises(ValueError, match="unknown fields \\['fault'\\]"):
        Plan.from_dict({**PLAN, "fault": ["glare"]})
    with pytest.raises(ValueError, match="quick"):
        Plan.read("no-such-plan")
    with pytest.raises(
        ValueError, match="unknown contender 'confidant' \\(did you mean 'confident'\\?\\); there are base"
    ):
        Plan.from_dict({**PLAN, "contenders": ["confidant"]}).jobs()
    with pytest.raises(ValueError, match="unknown fault 'rust'"):
        Plan.from_dict({**PLAN, "disturbances": ["rust"]}).jobs()
    for wrong in ({"episodes": 0}, {"failures": [-1]}, {"contenders": []}, {"disturbances": []}):
        with pytest.raises(ValueError, match="a plan"):
            Plan.from_dict({**PLAN, **wrong})
    with pytest.raises(ValueError, match="names its tasks"):
        Plan.from_dict({"contenders": ["base"]})
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump({**PLAN, "tasks": ["NoTask"]}))
    assert sweep(str(tmp_path / "bad.yaml"), tmp_path) == 2


def test_a_cell_runs_to_the_same_episodes_every_time(plan) -> None:
    job = Plan.read(str(plan)).jobs()[-1]
    assert [found[:2] for found in run_jobs([job])] == [found[:2] for found in run_jobs([job])]


def test_a_cell_is_driven_as_it_says(monkeypatch) -> None:
    """Its episodes, seeds, fault, options and treatment reach the loop; each seed of a plan has episodes of its own."""
    asked = []
    monkeypatch.setattr(module, "run_trials", lambda *given: asked.append(given) or [[]])
    plan = {**PLAN, "contenders": ["confident"], "disturbances": ["lag"], "failures": [3], "episodes": 5}
    settings = {
        "seeds": [0, 2], "intensities": [0.5], "proportions": [0.25], "onset": 7, "severity": "paper",
        "options": {"cars": 3}, "processes": True,
    }  # fmt: skip
    for job in Plan.from_dict({**plan, **settings}).jobs():
        run_jobs([job])
    (agent, treatment, (first,)), (_, _, (second,)) = asked
    assert agent.folder.parts[-2:] == ("stop-sign", "dropout")
    assert treatment.judge == "greedy"
    assert first.disturbance == Scenario(
        faults=("lag",), sensors=3, intensity=0.5, proportion=0.25, onset=7, preset="paper", seed=0
    )
    assert (first.env, first.seed, second.seed) == ("wiser/StopSign-v0", 6_000_000, 6_020_000)
    assert (first.episodes, first.options, first.processes) == (5, {"cars": 3}, True)
    assert second.disturbance.seed == 2


def test_contenders_meet_the_same_episodes_and_faults(uninterrupted) -> None:
    met = {}
    for row in Ledger.open(uninterrupted / LEDGER).rows():
        harm = (row["disturbance"], row["failures"], row["env_seed"], row["failed"])
        met.setdefault(row["contender"], set()).add(harm)
    assert met["dropout"] == met["confident"]


def test_a_clean_cell_has_no_scenario_and_five_failures_leave_one_sensor(plan, uninterrupted) -> None:
    cells = [job.cell for job in Plan.read(str(plan)).jobs()]
    assert disturbance_of(cells[0]) is None
    ledger = Ledger.open(uninterrupted / LEDGER)
    worst = [cell for cell in cells if cell.failures == 5]
    assert all(len(episode.failed) == 5 for cell in worst for episode in ledger.episodes(cell.key))


def test_a_second_call_has_nothing_to_do(plan, uninterrupted) -> None:
    before = fingerprint(uninterrupted)
    assert sweep(str(plan), uninterrupted) == 0
    assert fingerprint(uninterrupted) == before


def test_two_workers_give_the_same_ledger(plan, uninterrupted, tmp_path) -> None:
    assert sweep(str(plan), tmp_path, workers=2) == 0
    assert fingerprint(tmp_path) == fingerprint(uninterrupted)


def test_killed_ten_times_it_comes_to_the_same_ledger(plan, uninterrupted, tmp_path) -> None:
    chance = random.Random(0)
    command = [sys.executable, "-m", "wiser", "sweep", str(plan), "--out", str(tmp_path), "--workers", "2"]
    for _ in range(10):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        time.sleep(chance.uniform(1.0, 9.0))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert sweep(str(plan), tmp_path, workers=2) == 0
    assert fingerprint(tmp_path) == fingerprint(uninterrupted)


def test_a_ray_cluster_of_two_nodes_gives_the_same_ledger(plan, uninterrupted, tmp_path) -> None:
    utilities = pytest.importorskip("ray.cluster_utils")
    cluster = utilities.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    try:
        assert sweep(str(plan), tmp_path, engine="ray", workers=2, address=cluster.address) == 0
    finally:
        cluster.shutdown()
    assert fingerprint(tmp_path) == fingerprint(uninterrupted)
