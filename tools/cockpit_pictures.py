"""Draws the pictures of docs/cockpit.md: drives to a moment worth seeing, then takes screenshots of the page.

Run: python tools/cockpit_pictures.py     (needs Chromium and Playwright)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tyro
from playwright.sync_api import Browser, sync_playwright
from screenshots import IMAGES, launch, save

from wiser.cockpit import Catalogue, Session
from wiser.cockpit.board import Board
from wiser.cockpit.server import running
from wiser.cockpit.simulation import Simulation

DRAWN = "window.cockpit?.episode?.image && !window.cockpit.episode.drawing && window.cockpit.episode.end"


@dataclass
class Options:
    """What to show."""

    seed: int = 0
    """Of the episode."""
    onset: int = 40
    """When sensors break."""
    moment: int = 105
    """The step on the screenshots."""
    out: Path = IMAGES
    """Where they go."""
    only: str = ""
    """Take just the picture of this name."""


@dataclass(frozen=True)
class Shot:
    """One screenshot: what to press before it, and how large it is; height None is the whole page."""

    name: str
    width: int = 1400
    height: int | None = 900
    scheme: str = "light"
    press: tuple[str, ...] = ()


SHOTS = (
    Shot("cockpit", height=None),
    Shot("cockpit-dark", scheme="dark"),
    Shot("cockpit-menu", press=("5",)),
    Shot("cockpit-phone", width=390, height=844),
    Shot("cockpit-phone-dark", width=390, height=844, scheme="dark", press=("5",)),
)


def drive(simulation: Simulation, options: Options) -> None:
    """Glare on all sensors but the lidar, and the lidar stays; a frozen camera."""
    session = simulation.session
    while session.steps < options.moment:
        if session.steps == options.onset:
            for name in session.sensor_names:
                if name not in ("camera", "lidar"):
                    session.break_sensor(name, "glare", 1.0)
            session.break_sensor("camera", "freeze", 1.0)
        simulation.step()


def photograph(browser: Browser, address: str, shot: Shot, out: Path) -> None:
    """Open the page, wait until all is drawn, press keys, take the picture."""
    scheme: Any = shot.scheme
    context = browser.new_context(viewport={"width": shot.width, "height": shot.height or 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    while not page.evaluate(DRAWN):
        page.wait_for_timeout(200)
    for key in shot.press:
        page.keyboard.press(key)
    for _ in range(3 if shot.height is None else 0):  # the views grow with the window, up to a point
        page.set_viewport_size({"width": shot.width, "height": page.evaluate("document.body.scrollHeight")})
    page.wait_for_timeout(1000)
    save(page, out / f"{shot.name}.png")
    context.close()


def main(options: Options) -> None:
    """Drive, pause, photograph."""
    torch.set_num_threads(1)
    catalogue = Catalogue()
    choice = catalogue.choose("wiser/StopSign-v0", "stop-sign/dropout", "none", "auto", options.seed)
    simulation = Simulation(Session(choice), Board())
    simulation.paused = True
    options.out.mkdir(parents=True, exist_ok=True)
    with running(simulation, catalogue) as address, sync_playwright() as playwright:
        simulation.ask(lambda it: drive(it, options)).result()
        browser = launch(playwright)
        for shot in SHOTS:
            if options.only in ("", shot.name):
                photograph(browser, address, shot, options.out)
                print(options.out / f"{shot.name}.png")
        browser.close()


if __name__ == "__main__":
    main(tyro.cli(Options))
