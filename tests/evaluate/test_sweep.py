"""A sweep gives the same ledger on every engine, however often it is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from wiser.envs.domain import find_task
from wiser.evaluate import sweep as module
from wiser.evaluate.command import sweep
from wiser.evaluate.ledger import LEDGER, Ledger
from wiser.evaluate.methods import METHODS
from wiser.evaluate.sweep import CLEAN, Plan, run_cell, scenario_of
from wiser.faults import Scenario
from wiser.guard import Calibration, Greedy, Rejection

PLAN = {
    "tasks": ["StopSign"], "methods": ["dropout", "confident"], "faults": ["glare", "missing"], "failures": [0, 2, 5],
    "steps": 500,
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
    cells = Plan.read(str(plan)).cells()
    assert len(cells) == 2 * (1 + 2 * 2)
    assert [cell.method for cell in cells if cell.fault == CLEAN] == ["dropout", "confident"]
    assert len({cell.key for cell in cells}) == len(cells)


def test_presets_are_the_grids_of_the_paper() -> None:
    multi, single = Plan.read("driving-multi"), Plan.read("driving-single")
    settings = len(multi.tasks) * len(multi.faults) * len(multi.failures)
    assert (settings, len(multi.methods)) == (108, 6)
    assert (len(single.faults) * len(single.intensities) * len(single.proportions), len(single.methods)) == (80, 4)


def test_a_cell_knows_how_its_sensors_were_treated(monkeypatch) -> None:
    """Other settings or other thresholds under an old name are other cells: a ledger must not call them done."""
    values = {**PLAN, "methods": ["dropout", "confident", "calibrated", "reject"], "failures": [0]}

    def keys() -> list[str]:
        return [cell.key for cell in Plan.from_dict(values).cells()]

    before = keys()
    monkeypatch.setitem(METHODS, "confident", replace(METHODS["confident"], selection=Greedy(depth=2)))
    monkeypatch.setitem(METHODS, "reject", replace(METHODS["reject"], rejection=Rejection(k=4.0)))
    assert [old == new for old, new in zip(before, keys(), strict=True)] == [True, False, True, False]
    monkeypatch.undo()
    other = Calibration.of({"surprise": np.arange(3.0)})
    monkeypatch.setattr("wiser.evaluate.methods.beside", lambda folder, digest: other)
    assert [old == new for old, new in zip(before, keys(), strict=True)] == [True, True, False, False]


def test_seeds_of_a_plan_stay_in_their_range() -> None:
    assert Plan.from_dict({**PLAN, "seeds": [99]}).seeds == (99,)
    with pytest.raises(ValueError, match="0 to 99"):
        Plan.from_dict({**PLAN, "seeds": [100]})


def test_mistakes_in_a_plan_are_named(tmp_path) -> None:
    with pytest.raises(ValueError, match="unknown fields \\['fault'\\]"):
        Plan.from_dict({**PLAN, "fault": ["glare"]})
    with pytest.raises(ValueError, match="quick"):
        Plan.read("no-such-plan")
    with pytest.raises(ValueError, match="unknown method 'confidant'; there are base"):
        Plan.from_dict({**PLAN, "methods": ["confidant"]}).cells()
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump({**PLAN, "tasks": ["NoTask"]}))
    assert sweep(str(tmp_path / "bad.yaml"), tmp_path) == 2


def test_a_cell_runs_to_the_same_episodes_every_time(plan) -> None:
    cell = Plan.read(str(plan)).cells()[-1]
    assert run_cell(cell)[0] == run_cell(cell)[0]


def test_a_cell_is_driven_as_it_says(monkeypatch) -> None:
    """Its budget, seeds, fault and method reach the rollout; each seed of a plan has episodes of its own."""
    asked = []
    monkeypatch.setattr(module, "rollout", lambda agent, method, trial: asked.append((agent, method, trial)) or [])
    plan = {**PLAN, "methods": ["confident"], "faults": ["lag"], "failures": [3], "steps": 2600, "seeds": [0, 2]}
    settings = {"intensities": [0.5], "proportions": [0.25], "onset": 7, "severity": "paper"}
    for cell in Plan.from_dict({**plan, **settings}).cells():
        run_cell(cell)
    (agent, method, first), (_, _, second) = asked
    assert agent.folder.parts[-2:] == ("stop-sign", "dropout")
    assert method.selection == "greedy"
    assert first.scenario == Scenario(
        faults=("lag",), sensors=3, intensity=0.5, proportion=0.25, onset=7, preset="paper", seed=0
    )
    assert (first.env, first.seed, second.seed) == ("wiser/StopSign-v0", 6_000_000, 6_020_000)
    assert first.episodes == second.episodes == 2600 // find_task("StopSign").longest
    assert second.scenario.seed == 2


def test_methods_meet_the_same_episodes_and_faults(uninterrupted) -> None:
    rows = Ledger.open(uninterrupted / LEDGER).rows()
    met = {}
    for row in rows:
        met.setdefault(row["method"], set()).add((row["fault"], row["failures"], row["env_seed"], row["failed"]))
    assert met["dropout"] == met["confident"]


def test_a_clean_cell_has_no_scenario_and_five_failures_leave_one_sensor(plan, uninterrupted) -> None:
    cells = Plan.read(str(plan)).cells()
    assert scenario_of(cells[0]) is None
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
