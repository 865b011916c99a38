"""Worlds of nothing but noise: two pictures of different size, a bounded and an unbounded vector, a number."""

from gymnasium.vector import AutoresetMode

from tests.fake_world import NOISY, World, Worlds

LENGTH = 9
SENSORS = ("depth", "front", "imu", "speed")
"""Those that can break, in the order of a Dict space."""


def noise(length: int = LENGTH) -> World:
    return World(NOISY, ends=((length, "dies"),))


def noise_rows(rows: int, mode: AutoresetMode = AutoresetMode.NEXT_STEP, length: int = LENGTH) -> Worlds:
    return Worlds(rows, mode, copy=False, sensors=NOISY, ends=((length, "dies"),))
