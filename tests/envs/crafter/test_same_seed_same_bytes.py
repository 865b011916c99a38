"""The same seed and actions give the same bytes in every process; as the package is shipped they do not."""

import os
import subprocess
import sys

import numpy as np

from tests.envs.crafter.worlds import clear
from wiser.envs.crafter.env import CrafterEnv
from wiser.envs.crafter.game import OrderedWorld
from wiser.envs.crafter.names import SENSORS
from wiser.envs.crafter.package import crafter
from wiser.envs.vector import make_rows

SCRIPT = """
import hashlib, sys
import numpy as np
import crafter
from wiser.envs.crafter.env import CrafterEnv

elsewhere = [bytearray(n) for n in range(int(sys.argv[1]))]  # things lie at other addresses in every process
ours, package = CrafterEnv(), crafter.Env(seed=3)
found, shipped = hashlib.sha256(), hashlib.sha256()
ours.reset(seed=3)
package.reset()
dice = np.random.default_rng(0)
for _ in range(260):
    action = int(dice.integers(1, 6))
    observation, _, terminated, *_ = ours.step(action)
    for image in observation.values():
        found.update(image.tobytes())
    if terminated:
        ours.reset()
    frame, _, done, info = package.step(action)
    shipped.update(frame.tobytes() + info["semantic"].tobytes())
    if done:
        package.reset()
print(found.hexdigest(), shipped.hexdigest())
"""


def test_every_process_sees_the_same_and_the_package_alone_does_not() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, junk], capture_output=True, text=True, check=True, env=dict(os.environ)
        ).stdout.split()
        for junk in ("0", "777", "5000")
    ]
    ours, shipped = zip(*said, strict=True)
    assert len(set(ours)) == 1
    assert len(set(shipped)) > 1, "the package has become deterministic: OrderedWorld may go"


def test_the_game_is_the_package_s_picture_for_picture() -> None:
    """Through a whole day: ground drawn at once and creatures in order change nothing else."""
    ours, package = CrafterEnv(), crafter.Env(seed=5)
    package._world.__class__ = OrderedWorld
    frames = [ours.reset(seed=5)[0]["birdeye"], package.reset()]
    dice = np.random.default_rng(1)
    for _ in range(320):
        assert np.array_equal(*frames)
        action = int(dice.integers(17))
        observation, reward, terminated, truncated, info = ours.step(action)
        frame, paid, done, told = package.step(action)
        assert (reward, terminated or truncated) == (paid, done)
        assert {name for name, times in told["achievements"].items() if times} == {
            name for name in told["achievements"] if info[name]
        }
        frames = [observation["birdeye"], frame]
        if done:
            frames = [ours.reset()[0]["birdeye"], package.reset()]


def test_the_edge_of_the_world_is_the_package_s_too() -> None:
    ours, package = CrafterEnv(), crafter.Env(seed=5)
    package._world.__class__ = OrderedWorld
    ours.reset(seed=5)
    package.reset()
    for corner in ((0, 0), (63, 63), (2, 60)):
        for game in (ours.game, package):
            game._world.remove(game._world[corner][1]) if game._world[corner][1] else None
            game._world.move(game._player, corner)
        assert np.array_equal(ours.game.render(), package.render())


def test_later_episodes_follow_from_the_seed() -> None:
    one, other = CrafterEnv(length=3), CrafterEnv(length=30)
    one.reset(seed=8)
    one.step(0)
    other.reset(seed=8)
    assert np.array_equal(one.reset()[0]["semantic"], other.reset()[0]["semantic"])
    assert not np.array_equal(one.reset()[0]["semantic"], other.reset(seed=8)[0]["semantic"])


def test_rows_are_single_environments() -> None:
    """Also across the end of an episode, where the next step begins the next one."""
    rows = make_rows("wiser/CrafterShort-v0", 2, options={"length": 3})
    singles = [CrafterEnv(length=3) for _ in range(2)]
    seen, _ = rows.reset(seed=11)
    expected = [single.reset(seed=11 + i)[0] for i, single in enumerate(singles)]
    over = False
    for step in range(6):
        for name in SENSORS:
            assert np.array_equal(seen[name], np.stack([observation[name] for observation in expected]))
        actions = [step % 5, (step + 2) % 5]
        seen, reward, _, truncated, info = rows.step(np.array(actions))
        if over:
            expected, over = [single.reset()[0] for single in singles], False
            continue
        told = [single.step(action) for single, action in zip(singles, actions, strict=True)]
        expected, over = [step[0] for step in told], told[0][3]
        assert reward.tolist() == [step[1] for step in told]
        assert truncated.tolist() == [step[3] for step in told]
        assert info["collect_sapling"].tolist() == [step[4]["collect_sapling"] for step in told]
    rows.close()


def test_an_empty_world_stays_as_it_is() -> None:
    """What the other tests stand on."""
    env = CrafterEnv()
    env.reset(seed=0)
    clear(env)
    for _ in range(30):
        env.step(0)
    assert env.game.world.objects == [env.game.player]
