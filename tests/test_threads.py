"""How many threads torch takes: as told, as OMP_NUM_THREADS says, or as the cores this process may use."""

import pytest
import torch

from wiser import threads
from wiser.threads import use_threads


@pytest.fixture(autouse=True)
def used(monkeypatch):
    """What torch was told; it goes on with the threads it had."""
    told = []
    monkeypatch.setattr(torch, "set_num_threads", told.append)
    monkeypatch.setattr(threads, "usable_cores", lambda: 3)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return told


def test_what_is_asked_for_is_used(used, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    use_threads(7)
    assert used == [7]


def test_otherwise_torch_keeps_to_the_environment(used, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    use_threads()
    assert used == []


def test_otherwise_it_takes_the_cores_there_are_but_not_all_of_a_large_machine(used, monkeypatch):
    use_threads()
    monkeypatch.setattr(threads, "usable_cores", lambda: 64)
    use_threads()
    assert used == [3, threads.MOST]


def test_cores_are_those_of_this_process(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 5}, raising=False)
    assert threads.usable_cores() == 2
