"""On real sockets: nobody else can connect, who does not read costs nothing, and Ctrl-C ends it in good order."""

import json
import signal
import socket
import subprocess
import sys
import time

import pytest

from tests import fake_world
from tests.cockpit.cameras import agent, prepare
from wiser.cockpit.board import unpack

sync = pytest.importorskip("websockets.sync.client", reason="pip install 'wiser-guard[cockpit]'")
viewer_module = pytest.importorskip("wiser.cockpit.viewer", reason="pip install 'wiser-guard[cockpit]'")
__all__ = ["agent"]


def kind_of(message) -> str:
    return (unpack(message)[0] if isinstance(message, bytes) else json.loads(message))["kind"]


def watch_until(viewer, step: int) -> None:
    """See everything up to a step."""
    while True:
        message = viewer.recv(timeout=120)
        viewer.send("seen")
        if isinstance(message, bytes):
            told, _ = unpack(message)
            if told["first"] + len(told["steps"]) > step:
                return


def read_on(viewer, into: list | None = None, patience: float = 60) -> None:
    """Read until that fails."""
    while True:
        message = viewer.recv(timeout=patience)
        if into is not None:
            into.append(message)


@pytest.fixture
def served(agent):
    from wiser.cockpit.server import running

    simulation, catalogue = prepare(agent, fake_world.ENDLESS)
    with running(simulation, catalogue) as address:
        yield simulation, address.replace("http", "ws") + "live"


def test_only_this_machine_can_connect():
    from wiser.cockpit.server import listen, names_of

    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert names_of(listening) == (f"127.0.0.1:{port}", f"localhost:{port}")
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
        for address in {"127.0.0.2", own_address()} - {None}:
            with pytest.raises(OSError, match=r"refused|timed out|unreachable"):
                socket.create_connection((address, port), timeout=10)
        with pytest.raises(ValueError, match="choose another --port"):
            listen("127.0.0.1", port)


def own_address() -> str | None:
    """How other machines would reach this one, if they can."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return None
        return probe.getsockname()[0]


def test_who_does_not_read_gets_little_and_holds_nobody_up(served, monkeypatch):
    monkeypatch.setattr(viewer_module, "PATIENCE", 600.0)
    simulation, address = served
    with sync.connect(address) as idle, sync.connect(address) as eager:
        watch_until(eager, 60)
        simulation.ask(lambda it: setattr(it, "paused", True)).result()
        sent = []
        with pytest.raises(TimeoutError):
            read_on(idle, sent, patience=0.5)
        assert len(sent) <= 5
        for _ in sent:
            idle.send("seen")
        late = idle.recv(timeout=60)
        while kind_of(late) != "steps":
            late = idle.recv(timeout=60)
        told, picture = unpack(late)
        assert picture
        assert told["first"] <= 5
        assert told["first"] + len(told["steps"]) > 60  # one picture, the newest, and all the numbers in between


def test_who_sees_nothing_for_too_long_no_longer_counts(served, monkeypatch):
    monkeypatch.setattr(viewer_module, "PATIENCE", 0.5)
    simulation, address = served
    with sync.connect(address) as idle, pytest.raises(Exception, match="nothing was seen for too long"):
        read_on(idle)
    until = time.monotonic() + 60
    while simulation.ask(lambda it: it.watchers).result():
        assert time.monotonic() < until


def test_a_long_order_ends_the_connection_and_nothing_else(served):
    _, address = served
    with sync.connect(address) as viewer:
        viewer.send("x" * 100_000)
        with pytest.raises(Exception, match="1009"):
            read_on(viewer)
    with sync.connect(address) as other:
        watch_until(other, 0)


def test_ctrl_c_ends_it_though_somebody_watches():
    arguments = [sys.executable, "-m", "wiser", "cockpit", "--no-open", "--port", "0"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        line = next(line for line in process.stdout if "http" in line)  # kernels may be compiled first, which is said
        address = line.split()[4]
        assert address.startswith("http://127.0.0.1:"), line
        with sync.connect(address.replace("http", "ws") + "live", open_timeout=120) as viewer:
            watch_until(viewer, 1)
            process.send_signal(signal.SIGINT)
            with pytest.raises(Exception, match=r"1012|1001|1006"):
                read_on(viewer)
        rest, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert rest.splitlines()[-1] == "The cockpit is closed."  # kernels may be compiled late, too
