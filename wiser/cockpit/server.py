"""The server: a page, a stream, and the episode as a file."""

from __future__ import annotations

import asyncio
import importlib.util
import ipaddress
import json
import socket
import tempfile
import threading
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from wiser.cockpit.catalogue import Catalogue
from wiser.cockpit.door import Door
from wiser.cockpit.orders import Orders
from wiser.cockpit.simulation import Simulation
from wiser.cockpit.viewer import Viewer
from wiser.faults import FAULTS
from wiser.record import export
from wiser.record.export import FORMS
from wiser.record.web import PAGE as RECORD_PAGE

PAGE = Path(__file__).parent / "page"


def build(simulation: Simulation, catalogue: Catalogue, hosts: Collection[str]) -> Starlette:
    """The application for a server that is called `hosts`, as in 127.0.0.1:8765. It starts and stops the simulation."""
    orders, greeting, exporting = Orders(catalogue), greet(catalogue), asyncio.Semaphore(1)

    async def page(request: Request) -> Response:
        return FileResponse(PAGE / "cockpit.html")

    async def live(websocket: WebSocket) -> None:
        await Viewer(websocket, simulation, orders, greeting).serve()

    async def episode(request: Request) -> Response:
        suffix = f".{request.path_params['form']}"
        if suffix not in FORMS:
            return PlainTextResponse(f"A recording can become {', '.join(FORMS)}.\n", 404)
        async with exporting:  # one at a time: unpacked, an episode is large
            return await run_in_threadpool(write_episode, simulation, suffix)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        simulation.start()
        yield
        await run_in_threadpool(simulation.stop)

    routes = [
        Route("/", page),
        Route("/episode.{form}", episode),
        WebSocketRoute("/live", live),
        Mount("/page", StaticFiles(directory=PAGE)),
        Mount("/record", StaticFiles(directory=RECORD_PAGE)),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Door, hosts=hosts)], lifespan=lifespan)


def greet(catalogue: Catalogue) -> str:
    """What a page must know before anything else: what there is to choose from."""
    forms = [suffix for suffix in FORMS if suffix != ".rrd" or importlib.util.find_spec("rerun")]
    return json.dumps(
        {
            "kind": "catalogue",
            "envs": catalogue.envs,
            "agents": catalogue.agents,
            "treatments": catalogue.treatments,
            "faults": {name: fault.description for name, fault in FAULTS.items()},
            "forms": [suffix.removeprefix(".") for suffix in forms],
        }
    )


def write_episode(simulation: Simulation, suffix: str) -> Response:
    """The episode so far as a file to download."""
    choice = simulation.session.choice
    name = f"{Path(choice.agent).as_posix().strip('/').replace('/', '-')}-seed-{choice.seed}{suffix}"
    with tempfile.TemporaryDirectory() as folder:
        try:
            recording = simulation.ask(lambda it: it.session.recording()).result()
            data = export(recording, Path(folder, f"episode{suffix}")).read_bytes()
        except (RuntimeError, ValueError) as error:
            return PlainTextResponse(f"{error}\n", 503)
    return Response(data, headers={"content-disposition": f'attachment; filename="{_plain(name)}"'})


def listen(host: str, port: int) -> socket.socket:
    """Open the port on this address and on no other; port 0 takes a free one."""
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError as error:
        raise ValueError(f"a host is an address of this machine, got {host!r}") from error
    if address.is_unspecified:
        raise ValueError(f"{host} would open the cockpit to every network: name the one address to listen on")
    if not 0 <= port <= 65535:
        raise ValueError(f"a port is a number from 0 to 65535, got {port}")
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        return socket.create_server((str(address), port), family=family)
    except OSError as error:
        raise ValueError(f"cannot listen on {address}, port {port}: {error.strerror}; choose another --port") from error


def names_of(listening: socket.socket) -> tuple[str, ...]:
    """What browsers may call the server behind a socket; the first is the one to tell people."""
    address, port = listening.getsockname()[:2]
    literal = f"[{address}]" if ":" in address else address
    names = (literal, "localhost") if ipaddress.ip_address(address).is_loopback else (literal,)
    return tuple(f"{name}:{port}" for name in names)


def server(app: Starlette) -> uvicorn.Server:
    """A server for the application; `run(sockets=[...])` runs it until Ctrl-C."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            ws_max_size=4096,  # orders are short
            ws_per_message_deflate=False,  # pictures are compressed already
            limit_concurrency=32,
            timeout_graceful_shutdown=3,
        )
    )


@contextmanager
def running(simulation: Simulation, catalogue: Catalogue, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve on a free port, in a thread, while the block runs: for notebooks, tools and tests. Gives the address."""
    listening = listen(host, 0)
    names = names_of(listening)
    serving = server(build(simulation, catalogue, names))
    thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://{names[0]}/"
    finally:
        serving.should_exit = True
        thread.join()


def _plain(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "-._") else "-" for c in name)
