"""Safety Gymnasium: our rig's three cameras beside the package's renderer and beside MuJoCo's own.

All draw the same worlds at 64 x 64 pixels in one run; rounds alternate and the best of each counts. The package draws
its three views that come nearest (`fixedfar`, `vision`, `track`), with its lidar, as it always does; it needs one
repair, for Gymnasium's viewer now wants to know its size. MuJoCo's renderer draws our three. Then whole steps, with
physics and the action repeat, with and without pictures, beside the package's with its lidar, and resets. Times are of
one CPU core.
Run: python benchmarks/safety.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.envs.mujoco.mujoco_rendering import OffScreenViewer

from wiser.envs.safety.cameras import Rig, birdeye, dash, front
from wiser.envs.safety.course import Course
from wiser.envs.safety.env import SafetyEnv
from wiser.envs.safety.gl import context_kind
from wiser.envs.safety.names import REPEAT, TASKS
from wiser.envs.safety.package import Builder, mujoco, world

SEED, STEPS, SIZE = 2, 40, 64
ACTION = np.array([0.3, 0.2])


def seconds(do: Callable[[], object], times: int) -> float:
    """Of CPU time: all of it is spent in this thread, and others may be at work on the machine."""
    do()
    start = time.process_time()
    for _ in range(times):
        do()
    return (time.process_time() - start) / times


def packaged(name: str) -> Callable[[], object]:
    """An action in the package's own environment, lidar and all."""
    env = Builder(f"{name}-v0", {"agent_name": "Car" if "Car" in name else "Point"})
    env.reset(seed=SEED)
    return lambda: [env.step(ACTION) for _ in range(REPEAT)]


def package_with_its_sky() -> tuple[Any, Any]:
    """The package's own environment, and where it is after a reset."""
    world.BASE_DIR = str(Path(world.__file__).parent)
    env = Builder("SafetyPointGoal1-v0", {"agent_name": "Point"})
    env.reset(seed=SEED)
    return env.task, env.cost


def renderers(course: Course) -> dict[str, tuple[Callable[[], object], int]]:
    """By name, what draws three views, and how often it is asked to in a round."""
    from safety_gymnasium.bases import underlying

    os.environ["MUJOCO_GL"] = context_kind().__module__.rpartition(".")[2]  # all draw with the same library
    underlying.OffScreenViewer = partial(OffScreenViewer, width=SIZE, height=SIZE)
    task, rig, fine = course.task, Rig(SIZE), Rig(SIZE, quality=True)
    mujoco.Renderer.__init__.__globals__["gl_context"].GLContext = context_kind()
    model, data = task.model, task.data
    views = [birdeye(), front(model), dash(course)]
    fine.draw(model, data, views)
    official = mujoco.Renderer(model, SIZE, SIZE)
    every = mujoco.MjvOption()
    every.geomgroup[:] = 1
    theirs, cost = package_with_its_sky()

    def package() -> None:
        if theirs.viewer:
            theirs.viewer.make_context_current()
        for camera in ("fixedfar", "vision", "track"):
            theirs.render(SIZE, SIZE, "rgb_array", camera_name=camera, cost=cost)

    def mujoco_own() -> None:
        for view in views:
            official.update_scene(data, view, every)
            official.render()

    return {
        "our rig": (lambda: rig.draw(model, data, views), 20),
        "our rig, quality": (lambda: fine.draw(model, data, views), 4),
        "mujoco.Renderer": (mujoco_own, 4),
        "package": (package, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    course = Course("SafetyPointGoal1")
    course.begin(SEED)
    drawing = renderers(course)
    best = dict.fromkeys(drawing, np.inf)
    for _ in range(rounds):
        for name, (draw, times) in drawing.items():
            best[name] = min(best[name], seconds(draw, times))
    for name, spent in best.items():
        print(f"{name:18s} {1 / spent:7.1f} times three views a second")
    for name in TASKS:
        env = SafetyEnv(name)
        reset = seconds(partial(env.reset, seed=SEED), 2)
        step = min(seconds(partial(env.step, ACTION), STEPS) for _ in range(2))
        blind = min(seconds(partial(env.course.act, ACTION), STEPS) for _ in range(2))
        theirs = min(seconds(packaged(name), STEPS) for _ in range(2))
        print(
            f"{name:18s} {1 / step:7.1f} steps/s   without pictures {1 / blind:7.1f}, "
            f"{theirs / blind:4.1f} times the package's   reset {1000 * reset:6.1f} ms"
        )
        env.close()
    for other in ("mujoco.Renderer", "package"):
        kind = "safety_render" if other == "package" else "safety_render_mujoco"
        print(f"{kind} ratio={best[other] / best['our rig']:.1f}")


if __name__ == "__main__":
    main()
