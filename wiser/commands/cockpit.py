"""`wiser cockpit`: break a sensor with a click and watch."""

from __future__ import annotations

import webbrowser

from rich.console import Console

from wiser.extras import install_hint
from wiser.options import NO_OPTIONS, Options
from wiser.threads import use_threads


def cockpit(
    env: str | None = None,
    agent: str | None = None,
    left: str = "none",
    right: str = "greedy",
    seed: int = 0,
    blind_limit: int | None = None,
    env_options: Options = NO_OPTIONS,
    speed: float = 10.0,
    host: str = "127.0.0.1",
    port: int = 8765,
    open: bool = True,
    threads: int | None = None,
) -> int:
    """Two copies of an agent drive the same episode side by side, on a page where you break their sensors.

    Args:
        env: Gymnasium id of the environment, such as wiser/StopSign-v0; by default one the agent was trained in.
        agent: a shipped agent or a model folder; by default one that was trained in this environment.
        left: treatment of the left side: none, greedy, exhaustive, calibrated, random, median, reject, predict.
        right: of the right side.
        seed: of the episode and of everything random in it.
        blind_limit: steps without a trusted sensor after which the environment's safe action is taken, if it has one.
        env_options: what to tell the environment, each value as YAML has it.
        speed: steps a second to begin with; 10 is real time, 0 as fast as possible.
        host: address to listen on; the default is reachable from this machine only.
        port: to listen on; 0 takes a free one.
        open: open a browser.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    console = Console()
    try:
        from wiser.cockpit import server
    except ImportError:
        console.print(f"The cockpit needs a small web server: {install_hint('cockpit')}", markup=False)
        return 2
    from wiser.cockpit.board import Board
    from wiser.cockpit.catalogue import Catalogue
    from wiser.cockpit.session import Session
    from wiser.cockpit.simulation import Simulation

    use_threads(threads)
    try:
        catalogue = Catalogue()
        listening = server.listen(host, port)
        choice = catalogue.choose(env, agent, left, right, seed, blind_limit, env_options)
        simulation = Simulation(Session(choice), Board(), speed)
    except ValueError as error:
        console.print(str(error), style="red", markup=False)
        return 2
    names = server.names_of(listening)
    console.print(f"The cockpit is at http://{names[0]}/ (Ctrl-C ends it)", soft_wrap=True)
    if open:
        webbrowser.open(f"http://{names[0]}/")
    try:
        server.server(server.build(simulation, catalogue, names)).run(sockets=[listening])
    except KeyboardInterrupt:  # the server has shut down in good order and passes the signal on
        console.print("The cockpit is closed.")
    return 0
