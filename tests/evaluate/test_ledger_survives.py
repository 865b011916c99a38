"""Killed, crowded, out of space, forbidden, given the wrong file: a ledger keeps what it has and says what is wrong."""

import multiprocessing
import os
import resource
import signal
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.evaluate import sweep
from wiser.evaluate import Ledger, LedgerError

fork = multiprocessing.get_context("fork")
CELLS, EPISODES = 40, 6


def resume(path: Path) -> None:
    sweep.write(Ledger.open(path), range(CELLS), EPISODES)


class Reference(NamedTuple):
    fingerprint: str
    seconds: float


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> Reference:
    path, start = tmp_path_factory.mktemp("reference") / "ledger", time.monotonic()
    resume(path)
    return Reference(Ledger.open(path).fingerprint(), time.monotonic() - start)


def test_killed_ten_times_it_ends_up_the_same(tmp_path, uninterrupted) -> None:
    rng, path, progress = np.random.default_rng(0), tmp_path / "ledger", []
    for _ in range(10):
        child = fork.Process(target=resume, args=(path,))
        child.start()
        time.sleep(rng.uniform(0, uninterrupted.seconds / 6))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        ledger = Ledger.open(path)
        assert len(ledger.rows()) == EPISODES * len(ledger.finished())
        progress.append(len(ledger.finished()))
    assert progress == sorted(progress)
    assert progress[-1] > 0
    resume(path)
    assert Ledger.open(path).fingerprint() == uninterrupted.fingerprint


def test_killed_inside_a_transaction_it_keeps_nothing_of_the_cell(tmp_path) -> None:
    ledger = Ledger.open(tmp_path / "ledger")
    sweep.write(ledger, range(3))
    before = ledger.fingerprint()

    def die() -> None:
        with ledger._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("DELETE FROM episodes")
            connection.execute("INSERT INTO cells (key) VALUES ('half')")
            os.kill(os.getpid(), signal.SIGKILL)

    child = fork.Process(target=die)
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert ledger.fingerprint() == before


def test_processes_may_start_and_write_the_same_cells_together(tmp_path, uninterrupted) -> None:
    path, together = tmp_path / "ledger", fork.Barrier(4)

    def run(seed: int) -> None:
        together.wait()
        ledger = Ledger.open(path)
        for number in np.random.default_rng(seed).permutation(CELLS).tolist():
            ledger.write(sweep.cell(number), sweep.episodes(number, EPISODES), 1.0)

    children = [fork.Process(target=run, args=(seed,)) for seed in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 4
    assert Ledger.open(path).fingerprint() == uninterrupted.fingerprint


def fill(path: Path) -> int:
    """Write cells until the disk is full; how many were written."""
    ledger, written = Ledger.open(path), 0
    with pytest.raises(LedgerError, match="every cell that was written is kept"):  # noqa: PT012
        for number in range(CELLS):
            written += ledger.write(sweep.cell(number), sweep.episodes(number, EPISODES), 1.0)
    return written


def check_filled(path: Path, written: int, uninterrupted: Reference) -> None:
    assert 0 < written < CELLS
    assert Ledger.open(path).finished() == {sweep.cell(number).key for number in range(written)}
    resume(path)
    assert Ledger.open(path).fingerprint() == uninterrupted.fingerprint


def test_a_file_that_may_not_grow_loses_nothing(tmp_path, uninterrupted) -> None:
    path, (receive, send) = tmp_path / "ledger", fork.Pipe(duplex=False)

    def run() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        send.send(fill(path))

    child = fork.Process(target=run)
    child.start()
    child.join()
    assert child.exitcode == 0
    check_filled(path, receive.recv(), uninterrupted)


@pytest.fixture
def small_disk(tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk takes root")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_full_disk_loses_nothing(small_disk, uninterrupted) -> None:
    path = small_disk / "ledger"
    written = fill(path)
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    check_filled(path, written, uninterrupted)


@pytest.fixture
def read_only():
    """A folder with a ledger in it, seen by somebody who may not write there."""
    with tempfile.TemporaryDirectory() as name:
        folder, me = Path(name), os.geteuid()
        sweep.write(Ledger.open(folder / "ledger"), range(2))
        folder.chmod(0o555)
        if me == 0:
            os.seteuid(65534)
        yield folder
        os.seteuid(me)
        folder.chmod(0o755)


@pytest.mark.parametrize("name", ["ledger", "new", "folder/new"])
def test_a_read_only_folder_is_named(read_only, name) -> None:
    with pytest.raises(LedgerError, match=r"choose another path") as error:
        Ledger.open(read_only / name)
    assert str(read_only) in str(error.value)


def test_an_export_that_cannot_be_written_is_named(tmp_path) -> None:
    ledger = Ledger.open(tmp_path / "ledger")
    with pytest.raises(LedgerError, match="could not export"):
        ledger.export(ledger.path / "tables")


@pytest.mark.parametrize("content", [b"score\n1\n" * 1000, bytes(range(256)) * 16])
def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path, content) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=r"not a database.*choose another path"):
        Ledger.open(path)
    assert path.read_bytes() == content
    with pytest.raises(LedgerError, match="choose another path"):
        Ledger.open(tmp_path)
    with pytest.raises(LedgerError, match="choose another path"):
        Ledger.open(path / "ledger")


def test_the_sqlite_file_of_another_program_is_refused_and_left_alone(tmp_path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger.open(path)
    assert path.read_bytes() == before


def test_a_ledger_of_another_version_is_refused(tmp_path) -> None:
    path = tmp_path / "ledger"
    sweep.write(Ledger.open(path), range(2))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(LedgerError, match=r"version 99, this release keeps version 3: read it with the release"):
        Ledger.open(path)


def test_a_damaged_ledger_is_named(tmp_path) -> None:
    path = tmp_path / "ledger"
    sweep.write(Ledger.open(path), range(20))
    data = bytearray(path.read_bytes())
    data[4096 : len(data) - 4096] = bytes(len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(LedgerError, match="damaged"):
        Ledger.open(path).rows()


def test_a_ledger_that_went_away_is_not_silently_replaced(tmp_path) -> None:
    ledger = Ledger.open(tmp_path / "ledger")
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="unable to open"):
        sweep.write(ledger, range(1))
    assert not ledger.path.exists()


def test_a_writer_that_never_ends_is_reported(tmp_path, monkeypatch) -> None:
    ledger = Ledger.open(tmp_path / "ledger")
    monkeypatch.setattr("wiser.evaluate.ledger.PATIENCE", 0.05)
    with ledger._connection() as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="another process has been writing"):
            sweep.write(ledger, range(1))
        assert ledger.finished() == set()
