"""Safety Gymnasium as any Gymnasium environment, and what is said where something is not there."""

import subprocess
import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import wiser.envs
from tests.envs.safety.courses import NAMES, needs_gl
from wiser.envs.safety.env import SafetyEnv
from wiser.extras import ALONE, install_hint


@needs_gl
@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_finds_nothing_wrong(name) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*render_mode.*")
        env = gym.make(f"wiser/{name}-v0", render_mode="rgb_array").unwrapped
        check_env(env)
        env.close()


@needs_gl
def test_an_episode_ends_once() -> None:
    env = SafetyEnv("SafetyPointGoal1", repeat=500)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(np.zeros(2))
    env.reset(seed=0)
    assert [env.step(np.zeros(2))[2:4] for _ in range(2)] == [(False, False), (False, True)]
    with pytest.raises(gym.error.ResetNeeded):
        env.step(np.zeros(2))
    env.close()


@needs_gl
def test_costs_and_goals_are_told() -> None:
    env = SafetyEnv("SafetyPointGoal1")
    _, info = env.reset(seed=0)
    assert info == {"cost": 0.0, "goals": 0}
    task = env.course.task
    task.data.qvel[:] = 0
    task.model.body("hazard0").pos[:2] = task.agent.pos[:2]
    *_, info = env.step(np.zeros(2))
    assert info == {"cost": 5.0, "goals": 0}
    task.model.body("goal").pos[:2] = task.agent.pos[:2]
    *_, info = env.step(np.zeros(2))
    assert info["goals"] == 1
    env.close()


@needs_gl
def test_a_quarter_of_the_pixels_is_what_was_asked_for() -> None:
    env = SafetyEnv("SafetyCarGoal1", sensors=("front",), size=32)
    observation, _ = env.reset(seed=0)
    assert {name: image.shape for name, image in observation.items()} == {"front": (32, 32, 3)}
    assert env.observation_space.contains(observation)
    env.close()


@pytest.mark.parametrize(("settings", "said"), [
    ({"sensors": ("lidar",)}, "some of birdeye, front, dash, got lidar"),
    ({"sensors": ()}, "got none"),
    ({"size": 0}, "at least 1 pixel, got size 0"),
    ({"repeat": 0}, "at least once, got repeat 0"),
])  # fmt: skip
def test_what_cannot_be_is_refused(settings, said) -> None:
    with pytest.raises(ValueError, match=said):
        SafetyEnv("SafetyPointGoal1", **settings)


ABSENT = """
import sys
if {absent!r} in ("OSMesa", "EGL"):
    import ctypes.util
    ctypes.util.find_library = lambda name: None
else:
    sys.modules[{absent!r}] = None
import wiser.envs  # it is described all the same
from wiser.envs.vector import make_rows
try:
    make_rows("wiser/SafetyPointGoal1-v0", 1)
except ValueError as error:
    print(error)
print("safety_gymnasium" in sys.modules and {absent!r} == "mujoco")
"""


def said_without(absent: str) -> str:
    command = [sys.executable, "-c", ABSENT.format(absent=absent)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("absent", ["mujoco", "safety_gymnasium.builder", "xmltodict"])
def test_without_a_package_one_line_says_what_to_install(absent) -> None:
    line, half_loaded, _ = said_without(absent).split("\n")
    assert line.startswith("cannot make wiser/SafetyPointGoal1-v0: Safety Gymnasium needs packages (")
    assert line.endswith(install_hint("safety"))
    assert "'wiser-guard[safety]'" in line
    assert f"pip install --no-deps {ALONE['safety']}" in line
    assert half_loaded == "False"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the system draws")
def test_without_a_gl_library_one_line_says_what_to_install() -> None:
    line, *_ = said_without("OSMesa").split("\n")
    assert "drawn by libOSMesa or libEGL, which is not here: apt-get install libosmesa6" in line


def test_they_are_registered_once() -> None:
    assert wiser.envs.__name__
    assert {f"wiser/{name}-v0" for name in NAMES} <= set(gym.registry)
