"""The fast kernels draw what the plain numpy rasteriser draws.

The bound: no pixel differs by more than 4 grey levels, and the mean by less than 0.6. The kernels round to whole
grey levels after every layer and weigh texels with 8 bits; the reference computes in real numbers and rounds once.
"""

import numpy as np
import pytest

from tests.envs.driving import plain_camera, plain_sensors
from wiser.envs.driving.dynamics import decode_actions
from wiser.envs.driving.embedded import EmbeddedWorld
from wiser.envs.driving.expert import to_discrete
from wiser.envs.driving.sensors.birdeye import RANGE
from wiser.envs.driving.sensors.suite import LAYERS, SensorSuite
from wiser.envs.driving.sensors.textures import ground
from wiser.envs.driving.tasks import TASKS

WORST, MEAN = 4, 0.6
STEPS = (0, 40, 90)


def scenes(name, steps=STEPS, batch=3):
    task = TASKS[name]
    world, active = EmbeddedWorld(task, batch), np.ones(batch, bool)
    world.reset(active, list(range(10, 10 + batch)))
    for step in range(max(steps) + 1):
        if step in steps:
            yield world.scene()
        world.step(*decode_actions(task, to_discrete(world.expert_commands(), task.steers), False), active)


def draw_slowly(task, name, scene, b, size):
    if name == "camera":
        return plain_camera.draw_camera(ground(task.name, "camera"), scene, b, size)
    if name == "lidar":
        return plain_sensors.draw_lidar(ground(task.name, "lidar"), scene, b, size)
    metres = task.signals_range if name == "birdeye_with_traffic_lights" else RANGE
    return plain_sensors.draw_birdeye(ground(task.name, "birdeye"), scene, b, name, metres, size)


@pytest.mark.parametrize("size", [64, 96])
@pytest.mark.parametrize("sensor", ["camera", "lidar", *LAYERS])
@pytest.mark.parametrize("name", ["FourLane", "RightTurn-Hard", "StopSign"])
def test_every_sensor_on_every_task(name, sensor, size):
    task = TASKS[name]
    suite = SensorSuite(task, [sensor], size)
    for scene in scenes(name):
        fast = suite.draw(scene, suite.empty(3))
        for b in range(3):
            gap = np.abs(fast[b, 0].astype(int) - draw_slowly(task, sensor, scene, b, size).astype(int))
            assert gap.max() <= WORST
            assert gap.mean() < MEAN


def test_a_subset_of_sensors_draws_the_same_pixels():
    task, scene = TASKS["StopSign"], next(scenes("StopSign"))
    everything = SensorSuite(task)
    images = everything.split(everything.draw(scene, everything.empty(3)))
    for name, image in images.items():
        alone = SensorSuite(task, [name])
        np.testing.assert_array_equal(alone.draw(scene, alone.empty(3))[:, 0], image)
