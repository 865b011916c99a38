"""Pictures are those of MuJoCo's own renderer and of the package's, pixel by pixel, upright and never blank."""

import gc
import os
import subprocess
import sys
from ctypes.util import find_library
from functools import partial

import numpy as np
import pytest

from tests.envs.safety.courses import NAMES, needs_gl, place
from wiser.envs.safety import cameras
from wiser.envs.safety.cameras import FAST, Rig, birdeye, dash, front
from wiser.envs.safety.course import Course
from wiser.envs.safety.env import SafetyEnv
from wiser.envs.safety.gl import LIBRARIES, context_kind
from wiser.envs.safety.names import SENSORS
from wiser.envs.safety.package import mujoco

pytestmark = needs_gl
GREEN, RED, BLUE = 1, 0, 2


def course(name: str = "SafetyPointGoal1", seed: int = 3) -> Course:
    made = Course(name)
    made.begin(seed)
    return made


def shots(rig: Rig, made: Course) -> list[np.ndarray]:
    model, data = made.task.model, made.task.data
    return rig.draw(model, data, [birdeye(), front(model), dash(made)])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quality", [False, True])
def test_the_rig_draws_as_mujoco_s_renderer_does(name, quality, monkeypatch) -> None:
    made, rig = course(name), Rig(64, quality)
    first = shots(rig, made)
    made.begin(4)  # another model, and the same context
    found = shots(rig, made)
    model, data = made.task.model, made.task.data
    for setting, value in {} if quality else FAST.items():
        setattr(model.vis.quality, setting, value)
    model.vis.global_.offwidth = model.vis.global_.offheight = 64
    monkeypatch.setattr(mujoco.Renderer.__init__.__globals__["gl_context"], "GLContext", context_kind())
    renderer = mujoco.Renderer(model, 64, 64)
    option = mujoco.MjvOption()
    option.geomgroup[:] = 1
    for image, camera in zip(found, (birdeye(), front(model), dash(made)), strict=True):
        renderer.update_scene(data, camera, option)
        if not quality:
            for flag in cameras.DEVICES:
                renderer.scene.flags[flag] = 0
        np.testing.assert_array_equal(image, renderer.render())
    assert not np.array_equal(first[0], found[0])
    renderer.close()
    np.testing.assert_array_equal(shots(rig, made)[0], found[0])
    rig.close()


@pytest.mark.parametrize("name", ["SafetyPointGoal2", "SafetyPointButton1", "SafetyCarGoal1"])
def test_with_quality_the_front_is_the_package_s_own_picture_lidar_and_all(name, monkeypatch) -> None:
    from gymnasium.envs.mujoco.mujoco_rendering import OffScreenViewer
    from safety_gymnasium.bases import underlying

    monkeypatch.setenv("MUJOCO_GL", context_kind().__module__.rpartition(".")[2])
    viewer = partial(OffScreenViewer, width=96, height=96)  # all that has changed since the package was made
    monkeypatch.setattr(underlying, "OffScreenViewer", viewer)
    env = SafetyEnv(name, sensors=("front", "birdeye"), size=96, quality=True)
    env.reset(seed=1)
    task, simulation = env.course.task, env.course.simulation
    hazard = task.hazards.pos[0]
    for near in (1.0, 0.05):  # and where it costs: a red ball
        place(env.course, hazard[0] - near, hazard[1], 0.1)  # straight at it the package's lidar has an error
        simulation._cost()
        assert (simulation.cost["cost_sum"] > 0) == (near < 0.1)
        if task.viewer:
            task.viewer.make_context_current()  # as Gymnasium does before it asks it for a picture
        theirs = task.render(96, 96, "rgb_array", camera_name="vision", cost=simulation.cost)
        np.testing.assert_array_equal(env._look()["front"], theirs)
    env.close()
    task.viewer.close()


def test_pictures_are_upright_and_look_where_the_robot_goes() -> None:
    """The goal is put 1 m in front of the robot, which looks along +x and stands left of the middle of the map."""
    for name in ("SafetyPointGoal1", "SafetyCarGoal1"):
        made, rig = course(name), Rig(64)
        place(made, -1.0, 1.0)
        model, data = made.task.model, made.task.data
        model.body("goal").pos[:2] = 0.2, 1.0
        mujoco.mj_forward(model, data)
        above, ahead, behind = shots(rig, made)
        rows, columns = np.nonzero(green(above))
        assert rows.mean() == pytest.approx(32 - 1.0 * 64 / 4.64, abs=1.5), "y is up"
        assert columns.mean() == pytest.approx(32 + 0.2 * 64 / 4.64, abs=1.5), "x is to the right"
        for image in (ahead, behind):
            rows, columns = np.nonzero(green(image))
            assert len(rows) > 100
            assert columns.mean() == pytest.approx(31.5, abs=3), "straight ahead"
            assert image[:4].mean() < image[-20:].mean(), "the sky is dark and above"
        rig.close()


def green(image: np.ndarray) -> np.ndarray:
    wide = image.astype(int)
    return (wide[..., GREEN] > wide[..., RED] + 25) & (wide[..., GREEN] > wide[..., BLUE] + 25)


@pytest.mark.parametrize("heading", [0.7, 2.4, -1.9])
@pytest.mark.parametrize("name", ["SafetyPointGoal1", "SafetyCarGoal1"])
def test_the_dash_camera_follows_the_front(name, heading) -> None:
    made, rig = course(name), Rig(64)
    place(made, 0.3, -0.2, heading)
    before = shots(rig, made)[2]
    np.testing.assert_allclose(made.forward[:2], [np.cos(heading), np.sin(heading)], atol=1e-6)
    made.task.model.body("goal").pos[:2] = made.position[:2] + made.forward[:2]
    mujoco.mj_forward(made.task.model, made.task.data)
    after = shots(rig, made)[2]
    columns = np.nonzero(green(after))[1]
    assert len(columns) > 100
    assert columns.mean() == pytest.approx(31.5, abs=3)
    assert not np.array_equal(before, after)
    rig.close()


@pytest.mark.parametrize("name", NAMES)
def test_no_picture_is_blank_and_the_map_shows_the_goal(name) -> None:
    env = SafetyEnv(name)
    observation, _ = env.reset(seed=2)
    for _ in range(4):
        for sensor in SENSORS:
            assert observation[sensor].std() > 10
        goal = env.course.task.goal.pos
        column, row = int(32 + goal[0] * 64 / 4.64), int(32 - goal[1] * 64 / 4.64)
        around = observation["birdeye"][max(row - 3, 0) : row + 4, max(column - 3, 0) : column + 4]
        assert green(around).any()
        observation, *_ = env.step(np.array([1.0, 0.3]))
    env.close()


def test_rigs_live_side_by_side_and_die_whenever_they_like() -> None:
    """A context that is freed must take nobody else's pictures away, also when the garbage collector does it."""
    made = course()
    kept, closed, lost = Rig(64), Rig(32), Rig(48, quality=True)
    expected = shots(kept, made)
    for rig in (closed, lost):
        assert shots(rig, made)[0].std() > 10
    closed.close()
    del lost, rig
    gc.collect()
    for image, again in zip(expected, shots(kept, made), strict=True):
        np.testing.assert_array_equal(image, again)
    assert shots(closed, made)[0].std() > 10, "a closed rig opens again"


@pytest.mark.parametrize("kinds", [(False, True), (True, False)])
def test_a_rig_draws_on_a_model_as_on_one_of_its_own_whoever_drew_there_before(kinds) -> None:
    shared = course()
    for quality in kinds:
        for image, alone in zip(shots(Rig(64, quality), shared), shots(Rig(64, quality), course()), strict=True):
            np.testing.assert_array_equal(image, alone)


def run_with(library: str, script: str) -> str:
    """What a process says that draws with this library."""
    if not find_library(LIBRARIES[library]):
        pytest.skip(f"no lib{LIBRARIES[library]}")
    chosen = {**os.environ, "MUJOCO_GL": library, "PYOPENGL_PLATFORM": library}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=chosen)
    if "Cannot initialize a EGL device display" in done.stderr:
        pytest.skip("EGL has nothing here to draw with")
    return done.stdout + done.stderr


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_process_that_closes_nothing_ends_in_silence(library) -> None:
    script = "from wiser.envs.safety.env import SafetyEnv; env = SafetyEnv('SafetyPointGoal1'); env.reset(seed=0)"
    assert run_with(library, script) == ""


ELSEWHERE = """
from threading import Thread
from wiser.envs.safety.env import SafetyEnv

env = SafetyEnv("SafetyPointGoal1", render_mode="rgb_array")
expected, shown = env.reset(seed=0)[0], env.render()
def draw():
    seen = env.reset(seed=0)[0]
    assert all((seen[name] == expected[name]).all() for name in seen) and (env.render() == shown).all()
    env.close()
    env.reset(seed=0)
    print("the same")
thread = Thread(target=draw)
thread.start()
thread.join()
assert (env.reset(seed=0)[0]["front"] == expected["front"]).all()
"""


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_thread_may_draw_one_after_the_other(library) -> None:
    assert run_with(library, ELSEWHERE) == "the same\n"


def test_a_large_picture_for_people_shows_the_world_whatever_the_sensors_show() -> None:
    env = SafetyEnv("SafetyPointGoal1", sensors=("dash",), size=16, render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (480, 480, 3)
    assert green(picture).sum() > 200
    assert SafetyEnv("SafetyPointGoal1").render() is None
    env.close()
