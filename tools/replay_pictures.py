"""Draws the pictures of docs/recording.md: records one episode three times, replays it in a browser, takes screenshots.

Run: python tools/replay_pictures.py     (needs Chromium and Playwright; the recording goes to runs/replay)
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from playwright.sync_api import Browser, sync_playwright
from screenshots import IMAGES, launch, save

import wiser
import wiser.envs  # registers the environments
from wiser.faults import Scenario, SensorFaults
from wiser.guard import Calibration, Guard
from wiser.record import About, Recorder, Recording, broken_now, export
from wiser.worldmodel import WorldModel

LANES = {"clean": "none", "broken, unguarded": "none", "broken, guarded": "greedy"}
ONSET, HEALED, HORIZON, FAULT = 40, 120, 500, "glare"


@dataclass
class Options:
    """What to record."""

    seed: int = 0
    """Of the episode and of what breaks."""
    broken: int = 5
    """How many of the six sensors fail."""
    moment: int = 105
    """The step on the screenshots."""
    out: Path = Path("runs/replay")
    """Where the recording, the page and the film go."""


def record(options: Options) -> Recording:
    """Drive the same episode in every lane."""
    agent = wiser.load("stop-sign/dropout")
    about = About(
        title=f"Stop sign, {options.broken} of {len(agent.sensors)} sensors in the glare from step {ONSET} to {HEALED}",
        task="wiser/StopSign-v0",
        agent="stop-sign/dropout",
        seeds=(options.seed,),
        command=shlex.join(["python", "tools/replay_pictures.py", *sys.argv[1:]]),
    )
    assert agent.folder is not None
    recorder = Recorder(agent.sensors, LANES, about, Calibration.load(agent.folder))
    for lane, method in LANES.items():
        drive(recorder, lane, agent, method, 0.0 if lane == "clean" else 1.0, options)
    return recorder.recording()


def drive(recorder: Recorder, lane: str, agent: WorldModel, method: str, intensity: float, options: Options) -> None:
    """Record one lane."""
    proportion = (HEALED - ONSET) / (HORIZON - ONSET)
    scenario = Scenario(
        faults=FAULT, sensors=options.broken, intensity=intensity, seed=options.seed,
        onset=ONSET, proportion=proportion, schedule="contiguous", horizon=HORIZON,
    )  # fmt: skip
    names = [sensor.name for sensor in agent.sensors]
    env = SensorFaults(gymnasium.make("wiser/StopSign-v0", sensors=names, render_mode="rgb_array"), scenario)
    guard, over = Guard(agent, method), False
    obs, info = env.reset(seed=options.seed)
    while not over:
        broken = broken_now(env.sensor_names, info["fault_intensity"], FAULT)
        action, verdict = guard.act(obs)
        with torch.no_grad():
            believed = agent.decode(guard.belief)
        seen, view = obs, ahead(env)
        obs, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        outcome = describe(info) if over else ""
        recorder.add(lane, seen, verdict, reward=reward, broken=broken, prediction=believed, view=view, outcome=outcome)


def ahead(env: gymnasium.Env[Any, Any]) -> np.ndarray:
    """The part of the picture for people that shows the road: the sensors beside it are recorded already."""
    return env.render()[:400, :612]


def describe(info: dict[str, object]) -> str:
    """How an episode ended."""
    endings = {
        "success": "arrived",
        "collision": "collided",
        "off_route": "left the route",
        "stop_violation": "ran the stop sign",
    }
    return next((words for name, words in endings.items() if info[name]), "out of time")


def photograph(browser: Browser, page_file: Path, moment: int) -> None:
    """Wide in light and dark, with beliefs, and as on a phone."""
    for name, width, height, scheme, beliefs in (
        ("replay", 1400, None, "light", False),
        ("replay-dark", 1400, None, "dark", False),
        ("replay-beliefs", 1400, 1000, "light", True),
        ("replay-phone", 390, 844, "light", False),
    ):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        page = context.new_page()
        page.goto(page_file.resolve().as_uri())
        page.evaluate("step => window.replay.jump(step)", moment)
        page.evaluate("on => window.replay.showPredictions(on)", beliefs)
        whole = page.evaluate("document.body.scrollHeight")
        page.set_viewport_size({"width": width, "height": height or whole})
        page.wait_for_timeout(1000)
        save(page, IMAGES / f"{name}.png")
        context.close()


def main(options: Options) -> None:
    """Record, export, photograph."""
    torch.set_num_threads(1)
    recording = record(options)
    for suffix in (".npz", ".html", ".mp4", ".gif"):
        path = export(recording, options.out / f"stop-sign{suffix}")
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")
    for lane in recording.lanes:
        print(f"{lane.name}: {len(lane)} steps, {lane.outcome}, score {lane.measure[-1]:.0f}")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        photograph(browser, options.out / "stop-sign.html", options.moment)
        browser.close()


if __name__ == "__main__":
    main(tyro.cli(Options))
