"""`wiser cockpit`: break a sensor with a click and watch."""

from __future__ import annotations

import webbrowser
from typing import Literal

from rich.console import Console

from wiser.extras import install_hint
from wiser.options import NO_OPTIONS, Agent, Env, Options
from wiser.spoken import spoken
from wiser.threads import use_threads


@spoken("The cockpit is closed.")
def cockpit(
    env: Env | None = None,
    agent: Agent | None = None,
    left: str = "none",
    right: str = "auto",
    seed: int = 0,
    blind_limit: int | Literal["horizon"] | None = None,
    env_options: Options = NO_OPTIONS,
    speed: float = 10.0,
    host: str = "127.0.0.1",
    port: int = 8765,
    open: bool = True,
    threads: int | None = None,
) -> int:
    """Two copies of an agent drive the same episode side by side, on a page where you break their sensors.

    Args:
        env: a task (FourLane, StopSign, ...) or a Gymnasium id; by default where the agent was trained.
        agent: a shipped agent or a model folder; by default one that was trained in this environment.
        left: treatment of the sensors on the left side: none, greedy, exhaustive, calibrated, witnesses, random,
            median, reject, reject-reference, predict, or auto: the best the agent has a calibration for.
        right: treatment on the right side.
        seed: of the episode and of everything random in it.
        blind_limit: steps without a trusted sensor after which the environment's safe action is taken, if it has one;
            `horizon`: as many as the agent's calibration says predictions hold for.
        env_options: what to tell the environment, each value as YAML has it.
        speed: steps a second to begin with; 10 is real time, 0 as fast as possible.
        host: address to listen on; the default is reachable from this machine only.
        port: to listen on; 0 takes a free one.
        open: open a browser.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    try:
        from wiser.cockpit import server
    except ImportError as error:
        raise ImportError(f"The cockpit needs a small web server: {install_hint('cockpit')}") from error
    from wiser.cockpit.board import Board
    from wiser.cockpit.catalogue import Catalogue
    from wiser.cockpit.session import Session
    from wiser.cockpit.simulation import Simulation
    from wiser.rollout import mention_home

    use_threads(threads)
    console, catalogue = Console(), Catalogue()
    session = Session(catalogue.choose(env, agent, left, right, seed, blind_limit, env_options))
    simulation = Simulation(session, Board(), speed)
    listening = server.listen(host, port)
    mention_home(session.agent, session.choice.env)
    names = server.names_of(listening)
    console.print(f"The cockpit is at http://{names[0]}/ (Ctrl-C ends it)", soft_wrap=True)
    if open:
        webbrowser.open(f"http://{names[0]}/")
    server.server(server.build(simulation, catalogue, names)).run(sockets=[listening])
    return 0
