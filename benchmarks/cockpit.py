"""How many frames a second the cockpit shows, and whether its memory stays flat while a viewer does not read.

`wiser cockpit` runs in a process of its own, as fast as it can: both cars in traffic, six sensors each, with what the
model believes of them, one side guarded. A viewer on the same machine takes every picture and decodes it as a browser
does; where Chromium is installed, a real page then does the same and draws it. The goal is 20 frames a second.
Run: python benchmarks/cockpit.py [--seconds 20] [--soak-minutes 30]     (resident memory is read from /proc: Linux)
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from wiser.cockpit.board import unpack
from wiser.cockpit.viewer import SEEN

GOAL, ENV = 20, "wiser/FourLane-v0"
SOAK_SPEED = 20  # steps a second
CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
COUNT = """() => {
  window.frames = 0;
  const { see, hear } = Cockpit.prototype;
  const count = () => { window.frames += 1; };
  Cockpit.prototype.see = function (...told) { see.apply(this, told); requestAnimationFrame(count); };
  Cockpit.prototype.hear = function (told) { hear.call(this, told); if (told.over) this.controls.restart(); };
}"""


@contextmanager
def cockpit(speed: int) -> Iterator[tuple[str, int]]:
    """A running cockpit: its address and its process id."""
    options = ["--env", ENV, "--speed", str(speed), "--no-open", "--port", "0"]
    command = [sys.executable, "-m", "wiser", "cockpit", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[4], process.pid
        finally:
            process.terminate()


def join(address: str) -> ClientConnection:
    """Come as a viewer."""
    return connect(address.replace("http", "ws") + "live", max_size=None)


class Watcher:
    """A viewer that decodes every picture, begins anew at the end, and breaks something each time."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket, self.frames, self.steps = socket, 0, 0

    def watch(self) -> None:
        """Until the connection ends."""
        with suppress(ConnectionClosed):
            for message in self.socket:
                self._see(message)
                self.socket.send(SEEN)

    def _see(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            told, picture = unpack(message)
            assert cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR) is not None
            self.frames += 1
            self.steps += len(told["steps"])
        elif json.loads(message).get("over"):
            self.socket.send('{"do": "restart"}')
            self.socket.send('{"do": "surprise"}')


@contextmanager
def watching(address: str) -> Iterator[Watcher]:
    """A viewer at work in a thread of its own, once it has seen something."""
    with join(address) as socket:
        watcher = Watcher(socket)
        threading.Thread(target=watcher.watch, daemon=True).start()
        while not watcher.frames:
            time.sleep(0.05)
        yield watcher


def frames_of_a_program(seconds: float) -> float:
    with cockpit(0) as (address, _), watching(address) as watcher:
        frames, steps = watcher.frames, watcher.steps
        time.sleep(seconds)
        rate = (watcher.frames - frames) / seconds
        print(f"a program that decodes: {rate:.1f} frames/s of {(watcher.steps - steps) / seconds:.1f} steps/s")
    return rate


def frames_of_a_page(seconds: float) -> float | None:
    """As many as Chromium shows, which draws on the same cores; None without it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        return None
    with cockpit(0) as (address, _), sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=program, args=CHROMIUM).new_page()
        page.goto(address)
        page.evaluate(COUNT)
        rate = counted(page, seconds)
        page.context.browser.close()
    print(f"a page in Chromium that draws: {rate:.1f} frames/s")
    return rate


def counted(page: Any, seconds: float) -> float:
    while not page.evaluate("window.frames"):
        time.sleep(0.1)
    (before, start), (after, end) = (sample(page, wait) for wait in (0.0, seconds))
    return (after - before) / (end - start)


def sample(page: Any, wait: float) -> tuple[int, float]:
    time.sleep(wait)
    return page.evaluate("window.frames"), time.perf_counter()


def soak(minutes: float) -> float:
    """Peak memory of the second half against that of the first, while one viewer watches and another never reads.

    Memory rises until the longest episode that can be saved is full, and stays: half a minute shows the rise only.
    """
    seconds, memory, dropped = int(60 * minutes), [], 0
    with cockpit(SOAK_SPEED) as (address, process), watching(address) as watcher, ExitStack() as stack:
        idle = stack.enter_context(join(address))
        for second in range(seconds):
            time.sleep(1)
            memory.append(resident(process))
            if idle.close_code is not None:  # the server has given it up: here comes the next one
                idle, dropped = stack.enter_context(join(address)), dropped + 1
            if second % max(1, seconds // 30) == 0:
                print(f"{second:5d} s  {memory[-1]:6.0f} MB  {watcher.frames} frames  {dropped} idle viewers dropped")
    before, after = max(memory[: seconds // 2]), max(memory[seconds // 2 :])
    print(f"peak memory: {before:.0f} MB in the first half, {after:.0f} MB in the second")
    return after / before


def resident(process: int) -> float:
    """Memory of a process in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="to count frames for")
    parser.add_argument("--soak-minutes", type=float, default=0.0, help="to watch the memory for; 0 leaves it out")
    options = parser.parse_args()
    if options.soak_minutes:
        print(f"cockpit_soak_memory ratio={soak(options.soak_minutes):.3f}")
        return
    print(f"cockpit_frames_per_second ratio={frames_of_a_program(options.seconds) / GOAL:.2f}")
    drawn = frames_of_a_page(options.seconds)
    if drawn is not None:
        print(f"cockpit_frames_in_chromium ratio={drawn / GOAL:.2f}")


if __name__ == "__main__":
    main()
