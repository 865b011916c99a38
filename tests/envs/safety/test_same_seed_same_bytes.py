"""The same seed and actions give the same bytes: later, in another process, with other cameras, in a batch."""

import subprocess
import sys

import numpy as np
import pytest

from tests.envs.safety.courses import moves, needs_gl
from wiser.envs.safety.env import SafetyEnv
from wiser.envs.safety.names import SENSORS
from wiser.envs.vector import make_rows

pytestmark = needs_gl
SCRIPT = """
from hashlib import sha256
from tests.envs.safety.courses import moves
from wiser.envs.safety.env import SafetyEnv

for name in ("SafetyPointButton1", "SafetyCarGoal1"):
    env, found = SafetyEnv(name), sha256()
    observation, _ = env.reset(seed=7)
    for action in moves(8):
        for image in observation.values():
            found.update(image.tobytes())
        observation, reward, *_, info = env.step(action)
        found.update(repr((reward, info["cost"])).encode())
    print(found.hexdigest())
    env.close()
"""


def test_every_process_sees_the_same() -> None:
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    said = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert said[0] == said[1]
    assert len(set(said[0].split())) == 2


def test_a_world_forgets_what_came_before() -> None:
    fresh, used = SafetyEnv("SafetyPointGoal1"), SafetyEnv("SafetyPointGoal1")
    used.reset(seed=1)
    for action in moves(5, 3):
        used.step(action)
    seen = [env.reset(seed=9)[0] for env in (fresh, used)]
    for action in moves(6):
        for name in SENSORS:
            np.testing.assert_array_equal(seen[0][name], seen[1][name])
        seen = [env.step(action)[0] for env in (fresh, used)]
    for env in (fresh, used):
        env.close()


def test_fewer_cameras_show_the_same() -> None:
    rows = make_rows("wiser/SafetyPointGoal1-v0", 1, sensors=("dash", "birdeye"))
    every = SafetyEnv("SafetyPointGoal1")
    seen, expected = rows.reset(seed=5)[0], every.reset(seed=5)[0]
    assert set(seen) == {"dash", "birdeye"}
    for action in moves(3):
        for name in seen:
            np.testing.assert_array_equal(seen[name][0], expected[name])
        seen, expected = rows.step(action[None].astype(np.float32))[0], every.step(action.astype(np.float32))[0]
    rows.close()
    every.close()


@pytest.mark.parametrize("processes", [False, True])
def test_rows_are_single_environments(processes) -> None:
    """Also across the end of an episode, where the next step begins the next one."""
    rows = make_rows("wiser/SafetyCarGoal1-v0", 2, options={"repeat": 400}, processes=processes)
    singles = [SafetyEnv("SafetyCarGoal1", repeat=400) for _ in range(2)]
    seen, _ = rows.reset(seed=11)
    expected = [single.reset(seed=11 + i)[0] for i, single in enumerate(singles)]
    over = False
    for action in moves(5).astype(np.float32):
        for name in SENSORS:
            np.testing.assert_array_equal(seen[name], np.stack([one[name] for one in expected]))
        seen, reward, _, truncated, info = rows.step(np.stack([action, action]))
        if over:
            expected, over = [single.reset()[0] for single in singles], False
            continue
        told = [single.step(action) for single in singles]
        expected, over = [step[0] for step in told], told[0][3]
        assert reward.tolist() == [step[1] for step in told]
        assert truncated.tolist() == [step[3] for step in told]
        assert info["cost"].tolist() == [step[4]["cost"] for step in told]
        assert info["goals"].tolist() == [step[4]["goals"] for step in told]
    rows.close()
    for single in singles:
        single.close()
