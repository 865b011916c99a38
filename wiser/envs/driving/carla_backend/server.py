"""A session with a CARLA server: connect or start one, keep it in step, and leave it as it was found.

Whatever the session changes on the server it undoes in the reverse order: sensors, vehicles, traffic manager, world
settings, and last a server it started itself. This happens once, at `close`, when the session is garbage-collected or
when the interpreter exits, whichever comes first.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import carla

from wiser.envs.driving.tasks import STEP_SECONDS

log = logging.getLogger(__name__)
CLIENT_VERSION, SERVER_VERSIONS = "0.9.16", ("0.9.15", "0.9.16")
CLEAN_UP_SECONDS = 5.0  # how long each step of the clean-up may wait for a server that may be gone


class CarlaError(RuntimeError):
    """CARLA did not do what was asked; the message says what to try."""


@dataclass(frozen=True)
class ServerOptions:
    """Where the server is and how patient to be."""

    host: str = "127.0.0.1"
    port: int = 2000
    traffic_port: int = 8000
    """Port of the traffic manager, which runs inside this process; one per client on a machine."""
    executable: str | Path | None = None
    """`CarlaUE4.sh` to start on `port` and stop at the end; None: a server is running already."""
    arguments: tuple[str, ...] = ("-RenderOffScreen", "-nosound")
    timeout: float = 20.0
    """Seconds for an answer, a tick or a sensor's image."""
    load_timeout: float = 120.0
    """Seconds for starting a server and for loading a town."""


@contextmanager
def explained(doing: str, remedy: str) -> Iterator[None]:
    """Turn the client library's errors into ones that say what was going on and what to do."""
    try:
        yield
    except CarlaError:
        raise
    except RuntimeError as error:
        raise CarlaError(f"{doing}: {error}. {remedy}") from error


def start_server(options: ServerOptions) -> subprocess.Popen[bytes]:
    """Start the executable in a process group of its own: the launch script's children can be stopped with it."""
    path = Path(options.executable or "").expanduser()
    if not path.is_file():
        raise CarlaError(f"there is no CARLA server at {path}; give the path of CarlaUE4.sh")
    command = [str(path), f"-carla-rpc-port={options.port}", *options.arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def stop_server(process: subprocess.Popen[bytes], patience: float = 10.0) -> None:
    """End a server that `start_server` started: ask first, insist later."""
    for request in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, request)
            process.wait(patience)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    process.poll()


def check_versions(client: str, server: str) -> None:
    """Warn about versions this backend was not written for."""
    if not client.startswith(CLIENT_VERSION):
        warnings.warn(f"CARLA client {client}: this backend was written for {CLIENT_VERSION}", stacklevel=2)
    if not server.startswith(SERVER_VERSIONS):
        warnings.warn(f"CARLA server {server}: this backend was written for {SERVER_VERSIONS}", stacklevel=2)


@dataclass
class Belongings:
    """The actors of a session."""

    client: carla.Client
    sensors: list[carla.Sensor] = field(default_factory=list)
    vehicles: list[carla.Vehicle] = field(default_factory=list)

    def destroy(self) -> None:
        """Silence and remove the sensors, then the vehicles, in one message. Empty afterwards."""
        for sensor in self.sensors:
            _attempt(sensor.stop)
        gone = [carla.command.DestroyActor(actor.id) for actor in (*self.sensors, *self.vehicles)]
        if gone:
            self.client.apply_batch_sync(gone, False)
        self.sensors.clear()
        self.vehicles.clear()


def _attempt(action: Callable[[], object]) -> None:
    """One step of a clean-up: a server that is gone must not keep the others from happening."""
    try:
        action()
    except RuntimeError as error:
        log.warning("CARLA clean-up: %s", error)


class Session:
    """A connection to a server in synchronous mode at ten steps per second.

    `make_client` stands in for `carla.Client`; tests pass a double.
    """

    world: carla.World
    traffic: carla.TrafficManager

    def __init__(self, options: ServerOptions, make_client: Callable[[str, int], carla.Client] = carla.Client) -> None:
        self.options = options
        self._undo = ExitStack()
        self._finalizer = weakref.finalize(self, self._undo.close)
        try:
            process = None
            if options.executable is not None:
                process = start_server(options)
                self._undo.callback(stop_server, process)
            self.client = make_client(options.host, options.port)
            self._await_answer(process)
            self._take_over()
        except BaseException:
            self.close()
            raise

    def _await_answer(self, process: subprocess.Popen[bytes] | None) -> None:
        """Wait until the server answers: once for a running server, patiently for one that is starting."""
        where, deadline = f"{self.options.host}:{self.options.port}", time.monotonic() + self.options.load_timeout
        self.client.set_timeout(self.options.timeout if process is None else 2.0)
        remedy = "Start one with `./CarlaUE4.sh -RenderOffScreen`, or name it with executable=; docs/carla.md has more"
        while True:
            try:
                with explained(f"no CARLA server answered at {where}", remedy):
                    check_versions(self.client.get_client_version(), self.client.get_server_version())
                break
            except CarlaError:
                if process is None or time.monotonic() > deadline:
                    raise
                if process.poll() is not None:
                    raise CarlaError(
                        f"the CARLA server stopped at once with code {process.returncode}; start it by hand to see why"
                    ) from None
        self.client.set_timeout(self.options.timeout)

    def _take_over(self) -> None:
        """Remember how the server was set, so that it can be left that way."""
        self.world = self.client.get_world()
        settings = self.world.get_settings()
        if settings.synchronous_mode:
            log.warning("the CARLA server waits for another client's ticks; if there is none, restart the server")
        client = self.client
        self._undo.callback(_attempt, lambda: client.get_world().apply_settings(settings))
        with explained("no traffic manager", f"Is port {self.options.traffic_port} taken? Set traffic_port="):
            self.traffic = self.client.get_trafficmanager(self.options.traffic_port)
        traffic = self.traffic
        self._undo.callback(_attempt, lambda: traffic.set_synchronous_mode(False))
        self.belongings = Belongings(self.client)
        self._undo.callback(_attempt, self.belongings.destroy)
        self._undo.callback(_attempt, lambda: client.set_timeout(CLEAN_UP_SECONDS))

    def load(self, town: str, rendering: bool) -> None:
        """Be in a town, loading it only if needed, in synchronous mode; without rendering if no camera looks."""
        if self.world.get_map().name.split("/")[-1].removesuffix("_Opt") != town:
            self.belongings.destroy()
            self.client.set_timeout(self.options.load_timeout)
            with explained(f"loading {town}", "Does the server have this town? A slow disk may need load_timeout="):
                self.world = self.client.load_world(town)
            self.client.set_timeout(self.options.timeout)
        settings = self.world.get_settings()
        settings.synchronous_mode, settings.fixed_delta_seconds = True, STEP_SECONDS
        settings.substepping, settings.max_substep_delta_time, settings.max_substeps = True, 0.01, 10
        settings.no_rendering_mode = not rendering
        self.world.apply_settings(settings)
        self.traffic.set_synchronous_mode(True)

    def spawn_vehicle(self, blueprint: carla.ActorBlueprint, place: carla.Transform) -> carla.Vehicle | None:
        """A vehicle at a place, or None if something is in the way."""
        vehicle: carla.Actor | None = self.world.try_spawn_actor(blueprint, place)
        if vehicle is None:
            return None
        self.belongings.vehicles.append(vehicle)  # type: ignore[arg-type]  # vehicle blueprints make vehicles
        return self.belongings.vehicles[-1]

    def spawn_sensor(
        self, blueprint: carla.ActorBlueprint, place: carla.Transform, parent: carla.Actor
    ) -> carla.Sensor:
        """A sensor fixed to a vehicle."""
        with explained(f"no {blueprint.id} could be mounted", "Has the server run out of graphics memory?"):
            sensor = self.world.spawn_actor(blueprint, place, parent)
        self.belongings.sensors.append(sensor)  # type: ignore[arg-type]  # sensor blueprints make sensors
        return self.belongings.sensors[-1]

    def remove_vehicle(self, vehicle: carla.Vehicle) -> None:
        """Take one vehicle away."""
        self.belongings.vehicles.remove(vehicle)
        self.client.apply_batch_sync([carla.command.DestroyActor(vehicle.id)], False)

    def tick(self) -> int:
        """Let the server compute a tenth of a second; the number of the new frame."""
        with explained("the server did not tick", "It may have crashed: restart it. If it is slow, raise timeout="):
            return self.world.tick(self.options.timeout)

    @property
    def closed(self) -> bool:
        """Whether everything has been undone."""
        return not self._finalizer.alive

    def close(self) -> None:
        """Undo everything, in order. Harmless when repeated."""
        self._finalizer()
