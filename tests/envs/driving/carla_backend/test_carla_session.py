"""A session changes the server for itself and leaves it as it was found, however it ends."""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import carla
import pytest

from tests.envs.driving.carla_backend.carla_doubles import Server
from wiser.envs.driving import maps
from wiser.envs.driving.carla_backend.server import CarlaError, ServerOptions, Session, check_versions

HERE = carla.Transform()


def populated(server):
    """A session with a vehicle and a sensor on it."""
    session = Session(ServerOptions(), server)
    session.load("Town04", rendering=True)
    library = session.world.get_blueprint_library()
    vehicle = session.spawn_vehicle(library.find("vehicle.audi.tt"), HERE)
    session.spawn_sensor(library.find("sensor.other.collision"), HERE, vehicle)
    return session


UNDONE = [("stop", 2), ("destroy", 2), ("destroy", 1), ("traffic", False), ("settings", False)]


@pytest.fixture
def server():
    return Server(maps.stop_sign())


def test_synchronous_at_ten_steps_per_second(server):
    session = populated(server)
    assert server.settings.synchronous_mode
    assert server.settings.fixed_delta_seconds == pytest.approx(0.1)
    assert not server.settings.no_rendering_mode
    assert ("traffic", True) in server.log
    assert session.tick() == server.frame


def test_everything_is_undone_in_order_and_once(server):
    session = populated(server)
    server.log.clear()
    session.close()
    assert server.log == UNDONE
    assert not server.actors
    assert session.closed
    session.close()
    assert server.log == UNDONE


def test_undone_when_forgotten(server):
    session = populated(server)
    server.log.clear()
    del session
    gc.collect()
    assert server.log == UNDONE


@pytest.mark.parametrize("ending", ["pass", "raise KeyboardInterrupt", "sys.exit(3)"])
def test_undone_when_the_interpreter_exits(ending):
    script = f"""
import atexit, sys
atexit.register(lambda: print(server.log[-5:] == here.UNDONE))  # registered first, called last
sys.path.insert(0, {str(Path(__file__).parent)!r})
from tests.envs.driving.carla_backend.carla_doubles import Server
import test_carla_session as here
server = Server(here.maps.stop_sign())
session = here.populated(server)
{ending}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr


def test_a_server_that_is_gone_does_not_stop_the_rest(server, caplog):
    session = populated(server)
    server.faults["destroy"] = (0, RuntimeError("time-out of 5000ms"))
    server.log.clear()
    session.close()
    assert server.log == [("stop", 2), ("traffic", False), ("settings", False)]
    assert "clean-up" in caplog.text
    assert server.timeouts[-1] <= 5.0


def test_the_town_is_loaded_only_if_needed():
    there = Server(maps.stop_sign())
    Session(ServerOptions(), there).load("Town04", rendering=True)
    assert ("load", "Town04") not in there.log
    elsewhere = Server(maps.stop_sign(), loaded=maps.right_turn())
    session = Session(ServerOptions(), elsewhere)
    session.load("Town04", rendering=False)
    assert ("load", "Town04") in elsewhere.log
    assert elsewhere.settings.no_rendering_mode


def test_nobody_answers(server):
    server.faults["version"] = (0, RuntimeError("time-out of 20000ms"))
    with pytest.raises(CarlaError, match=r"no CARLA server answered at 127.0.0.1:2000.*CarlaUE4.sh"):
        Session(ServerOptions(), server)


def test_nobody_answers_on_a_real_socket():
    with pytest.raises(CarlaError, match=r"no CARLA server answered at 127\.0\.0\.1:1"):
        Session(ServerOptions(port=1, timeout=0.2))


def test_versions_we_do_not_know_are_warned_about(recwarn):
    check_versions("0.9.16", "0.9.15-12-gabcdef")
    assert not recwarn
    with pytest.warns(UserWarning, match=r"server 0.9.13"):
        check_versions("0.9.16", "0.9.13")
    with pytest.warns(UserWarning, match=r"client 0.10.0"):
        check_versions("0.10.0", "0.9.16")


def executable(folder, body):
    path = folder / "CarlaUE4.sh"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_a_server_is_started_on_its_port_and_stopped_with_its_children(server, tmp_path):
    path = executable(tmp_path, f'echo "$@" > {tmp_path}/arguments\nsleep 60 &\necho $! > {tmp_path}/child\nwait')
    session = Session(ServerOptions(executable=path, port=2345), server)
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text().strip():
        time.sleep(0.01)
    child = int((tmp_path / "child").read_text())
    assert (tmp_path / "arguments").read_text().split() == ["-carla-rpc-port=2345", "-RenderOffScreen", "-nosound"]
    session.close()
    for _ in range(100):
        if not alive(child):
            break
        time.sleep(0.02)
    assert not alive(child)


def alive(process):
    """Whether a process runs; one that is dead but not yet collected by its parent does not."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_server_that_dies_at_once(server, tmp_path):
    server.faults["version"] = (0, RuntimeError("time-out"))
    with pytest.raises(CarlaError, match="stopped at once with code 7"):
        Session(ServerOptions(executable=executable(tmp_path, "exit 7")), server)


def test_no_such_executable(server):
    with pytest.raises(CarlaError, match="give the path of CarlaUE4"):
        Session(ServerOptions(executable="/nowhere/CarlaUE4.sh"), server)
