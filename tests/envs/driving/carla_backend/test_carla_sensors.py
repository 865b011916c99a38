"""From the bytes of CARLA's sensors to our images, and waiting for the right ones."""

import threading
from types import SimpleNamespace

import carla
import numpy as np
import pytest

from wiser.envs.driving.carla_backend.sensors import (
    CollisionLog,
    SensorQueue,
    decode_camera,
    decode_lidar,
    draw_points,
    lidar_attributes,
)
from wiser.envs.driving.carla_backend.server import CarlaError
from wiser.envs.driving.embedded import EmbeddedWorld
from wiser.envs.driving.sensors import lidar
from wiser.envs.driving.sensors.suite import SensorSuite
from wiser.envs.driving.tasks import TASKS


def sent(frame, data=b""):
    return SimpleNamespace(frame=frame, raw_data=data)


def test_camera_bytes_are_blue_green_red_alpha():
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[0, 1] = 10, 20, 30, 255
    image = decode_camera(pixels.tobytes(), 4)
    assert image.shape == (4, 4, 3)
    assert image[0, 1].tolist() == [30, 20, 10]
    assert image.sum() == 60


def test_camera_shrinks_by_area():
    pixels = np.full((4, 4, 4), 255, np.uint8)
    pixels[:2, :2, :3] = [[[0, 0, 0], [40, 40, 40]], [[80, 80, 80], [120, 120, 120]]]
    image = decode_camera(pixels.tobytes(), 2)
    assert image[0, 0].tolist() == [60, 60, 60]
    assert image[1, 1].tolist() == [255, 255, 255]


def test_lidar_bytes_are_rows_of_four_floats():
    points = np.array([[1, 2, 3, 0.5], [4, 5, 6, 0.25]], np.float32)
    np.testing.assert_array_equal(decode_lidar(points.tobytes()), points)
    assert decode_lidar(b"").shape == (0, 4)


def test_points_fall_where_the_bird_sees_them():
    """64 pixels show 32 m: 20 m ahead above, 12 m behind below, 16 m to either side."""
    high = np.array([[10.0, 5.0, -0.9, 1.0]], np.float32)  # 10 m ahead, 5 m to the right, 1.5 m above the road
    image = draw_points(high, 64).astype(int)
    bare = draw_points(np.zeros((0, 4), np.float32), 64).astype(int)
    lit = np.argwhere((image - bare).sum(axis=2) > 60)
    assert len(lit)
    centre = lit.mean(axis=0) + 0.5
    assert centre == pytest.approx([(20.0 - 10.0) * 2, 32 + 5.0 * 2], abs=0.6)


def test_height_decides_the_colour():
    def colour(height):
        point = np.array([[10.25, 5.25, height - lidar.MOUNT, 1.0]], np.float32)
        return draw_points(point, 64)[19, 42].astype(int)

    ground, car, pole = colour(0.0), colour(1.5), colour(2.4)
    assert ground[2] > ground[0]  # bluish
    assert car[0] > 200 > car[2]  # yellow
    assert pole[0] > 200 > pole[1]  # red


def test_the_look_of_the_embedded_lidar():
    """Beams cast on flat ground and drawn as points: the same dim bluish picture, the same ego."""
    angles = np.radians(np.linspace(lidar.LOWEST, -1.0, 24))
    turn = np.linspace(-np.pi, np.pi, lidar.BEAMS)
    reach = (lidar.MOUNT / np.tan(-angles))[:, None]
    rows = [reach * np.cos(turn), reach * np.sin(turn), np.full((24, lidar.BEAMS), -lidar.MOUNT), np.ones((24, 720))]
    ours = draw_points(np.stack(rows, axis=-1).reshape(-1, 4).astype(np.float32), 64)
    world = EmbeddedWorld(TASKS["FourLane"], 1, cars=0)
    world.reset(np.ones(1, bool), [0])
    suite = SensorSuite(TASKS["FourLane"], ["lidar"], 64)
    embedded = suite.draw(world.scene(), suite.empty(1))[0, 0]
    np.testing.assert_array_equal(ours[40, 32], embedded[40, 32])  # the ego's box
    assert np.abs(ours.mean(axis=(0, 1)) - embedded.mean(axis=(0, 1))).max() < 30


def test_one_turn_of_the_lidar_per_step():
    attributes = lidar_attributes()
    assert attributes["rotation_frequency"] == "10"
    assert int(attributes["points_per_second"]) == 32 * 720 * 10


def test_the_queue_drops_the_past_and_returns_the_present():
    frames = SensorQueue("camera", 1.0)
    frames.put(sent(6, b"old"))
    frames.put(sent(7, b"new"))
    assert frames.wait(7) == b"new"


def test_the_queue_waits_for_a_late_frame():
    frames = SensorQueue("camera", 5.0)
    late = threading.Timer(0.05, lambda: frames.put(sent(3, b"late")))
    late.start()
    assert frames.wait(3) == b"late"


def test_the_queue_does_not_wait_for_ever():
    with pytest.raises(CarlaError, match=r"the lidar sent nothing for frame 9 in 0.05 s"):
        SensorQueue("lidar", 0.05).wait(9)


def test_a_skipped_frame_is_an_error():
    frames = SensorQueue("camera", 1.0)
    frames.put(sent(9))
    with pytest.raises(CarlaError, match="skipped frame 8"):
        frames.wait(8)


def test_collisions_are_reported_once():
    log = CollisionLog()
    assert log.take() == 0.0
    for _ in range(3):
        log.put(SimpleNamespace(normal_impulse=carla.Vector3D(x=3.0, y=4.0, z=0.0)))
    assert log.take() == 1.0
    assert log.take() == 0.0
