"""How a car moves and when two cars touch: a kinematic bicycle and oriented boxes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.roads import Floats
from wiser.envs.driving.tasks import ACCELERATIONS, STEP_SECONDS, Task
from wiser.kernels import kernel

LENGTH, WIDTH, HEIGHT = 4.7, 1.9, 1.5  # the ego, a middle-sized saloon
WHEELBASE = 2.9
MAX_STEER = math.radians(45.0)  # wheel angle at full lock
MAX_SPEED = 15.0
MAX_ACCELERATION = 3.0  # continuous actions
SUBSTEPS = 4


def decode_actions(task: Task, actions: NDArray[np.generic], continuous: bool) -> tuple[Floats, Floats]:
    """Acceleration (m/s^2) and steering (-1 to 1, positive to the left) of each action, both (B,).

    Discrete actions count steering fastest: index // 5 is the acceleration, index % 5 the steering.
    """
    if continuous:
        wanted = np.asarray(actions, np.float64)
        return np.clip(wanted[:, 0], -MAX_ACCELERATION, MAX_ACCELERATION), np.clip(wanted[:, 1], -1.0, 1.0)
    index = np.asarray(actions).astype(np.int64)
    return np.array(ACCELERATIONS)[index // 5], np.array(task.steers)[index % 5]


@kernel
def move_ego(ego, velocity, acceleration, steer):  # type: ignore[no-untyped-def]
    """Advance every ego by one step in place: ego (B, 4) x, y, yaw, speed; velocity (B, 2) is written."""
    dt = STEP_SECONDS / SUBSTEPS
    for b in range(ego.shape[0]):
        x, y, yaw, speed = ego[b]
        slip = math.atan(0.5 * math.tan(-steer[b] * MAX_STEER))  # angle of the centre's motion against the heading
        for _ in range(SUBSTEPS):
            speed = min(max(speed + acceleration[b] * dt, 0.0), MAX_SPEED)
            x += speed * math.cos(yaw + slip) * dt
            y += speed * math.sin(yaw + slip) * dt
            yaw += speed * math.sin(slip) / (0.5 * WHEELBASE) * dt
        ego[b, 0], ego[b, 1], ego[b, 2], ego[b, 3] = x, y, yaw, speed
        velocity[b, 0], velocity[b, 1] = speed * math.cos(yaw + slip), speed * math.sin(yaw + slip)


@kernel
def boxes_touch(x0, y0, yaw0, length0, width0, x1, y1, yaw1, length1, width1):  # type: ignore[no-untyped-def]
    """Whether two oriented boxes overlap (separating axes)."""
    dx, dy = x1 - x0, y1 - y0
    c, s = abs(math.cos(yaw1 - yaw0)), abs(math.sin(yaw1 - yaw0))
    ahead, aside = dx * math.cos(yaw0) + dy * math.sin(yaw0), dy * math.cos(yaw0) - dx * math.sin(yaw0)
    if abs(ahead) > 0.5 * (length0 + length1 * c + width1 * s) or abs(aside) > 0.5 * (
        width0 + length1 * s + width1 * c
    ):
        return False
    ahead, aside = dx * math.cos(yaw1) + dy * math.sin(yaw1), dy * math.cos(yaw1) - dx * math.sin(yaw1)
    return abs(ahead) <= 0.5 * (length1 + length0 * c + width0 * s) and abs(aside) <= 0.5 * (
        width1 + length0 * s + width0 * c
    )


@kernel
def contacts(ego, cars, size, present, collided, ttc):  # type: ignore[no-untyped-def]
    """Write which egos touch a car, and the time until each would hit the car ahead if nobody changed speed.

    ego (B, 4), cars (B, N, 4), size (B, N, 3), present (B, N) -> collided (B,) bool, ttc (B,) seconds or inf
    """
    for b in range(ego.shape[0]):
        collided[b], ttc[b] = False, np.inf
        x, y, yaw, speed = ego[b]
        c, s = math.cos(yaw), math.sin(yaw)
        for n in range(cars.shape[1]):
            if not present[b, n]:
                continue
            cx, cy, cyaw, cspeed = cars[b, n]
            dx, dy = cx - x, cy - y
            if abs(dx) > 60.0 or abs(dy) > 60.0:
                continue
            length, width = size[b, n, 0], size[b, n, 1]
            if dx * dx + dy * dy < 64.0 and boxes_touch(x, y, yaw, LENGTH, WIDTH, cx, cy, cyaw, length, width):
                collided[b] = True
            ahead, aside = dx * c + dy * s, dy * c - dx * s
            closing = speed - cspeed * math.cos(cyaw - yaw)
            if ahead > 0.0 and abs(aside) < 0.5 * (WIDTH + width) and closing > 1e-3:
                ttc[b] = min(ttc[b], max(ahead - 0.5 * (LENGTH + length), 0.0) / closing)
