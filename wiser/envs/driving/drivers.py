"""How the drivers of the other cars see the world and react: the state of traffic, IDM, leaders, free lanes.

Cars live in a corridor of parallel lanes and are described by their distance along it and a lateral shift from their
lane. Each world carries 64 bits of random state (splitmix64), seeded at reset, so a batch draws what its worlds would.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving.dynamics import LENGTH, WIDTH
from wiser.envs.driving.roads import SAMPLE, Floats
from wiser.envs.driving.tasks import SETTLED, STEP_SECONDS
from wiser.kernels import kernel

PLAN_POINTS = 10  # points of the path of each car that the waypoint views draw
STANDSTILL, HEADWAY = 2.0, 1.0  # IDM: gap at rest (m) and time gap (s)
ACCELERATE, COMFORT, HARDEST = 1.5, 2.0, 6.0  # IDM: m/s^2


class Traffic(NamedTuple):
    """The other cars of B worlds, N slots each."""

    present: NDArray[np.bool_]  # (B, N)
    lane: NDArray[np.int64]  # (B, N) lane of the corridor, during a change the new one
    s: Floats  # (B, N) distance along the corridor
    shift: Floats  # (B, N) metres right of the lane's centre, not zero during a change
    wish: Floats  # (B, N) speed when alone
    cars: Floats  # (B, N, 4) x, y, yaw, speed
    size: Floats  # (B, N, 3) length, width, height
    paint: Floats  # (B, N, 3) colour
    plans: Floats  # (B, N, PLAN_POINTS, 2) where each car will drive
    rng: NDArray[np.uint64]  # (B,)
    gap: Floats  # (B,) gap the next car of a flow waits for


def make_traffic(batch: int, cars: int) -> Traffic:
    """Empty roads."""
    shape = (batch, cars)
    return Traffic(
        np.zeros(shape, np.bool_), np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape), np.zeros(shape),
        np.zeros((*shape, 4)), np.ones((*shape, 3)), np.zeros((*shape, 3)), np.zeros((*shape, PLAN_POINTS, 2)),
        np.zeros(batch, np.uint64), np.zeros(batch),
    )  # fmt: skip


@kernel
def draw(rng, b):  # type: ignore[no-untyped-def]
    """A number in [0, 1) from world b's stream."""
    rng[b] += np.uint64(0x9E3779B97F4A7C15)
    z = rng[b]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) / 9007199254740992.0


@kernel
def project(line, x, y):  # type: ignore[no-untyped-def]
    """Distance along a sampled line of the point nearest (x, y), the offset to its right, and its yaw there."""
    best, nearest = 1e18, 0
    for p in range(line.shape[0]):
        d = (line[p, 0] - x) ** 2 + (line[p, 1] - y) ** 2
        if d < best:
            best, nearest = d, p
    yaw = line[nearest, 2]
    dx, dy = x - line[nearest, 0], y - line[nearest, 1]
    return nearest * SAMPLE + dx * math.cos(yaw) + dy * math.sin(yaw), dy * math.cos(yaw) - dx * math.sin(yaw), yaw


@kernel
def idm(speed, wish, gap, leader_speed):  # type: ignore[no-untyped-def]
    """Acceleration of the intelligent driver model; an infinite gap means a free road."""
    free = 1.0 - (speed / wish) ** 4 if speed <= wish else -0.5 * (speed - wish)
    if gap < 0.3:
        return -HARDEST
    approach = speed * (speed - leader_speed) / (2.0 * math.sqrt(ACCELERATE * COMFORT))
    wanted = STANDSTILL + max(0.0, speed * HEADWAY + approach)
    return min(max(ACCELERATE * (free - (wanted / gap) ** 2), -HARDEST), ACCELERATE)


@kernel
def describe_ego(line, ego, velocity, claim, out):  # type: ignore[no-untyped-def]
    """The ego as traffic sees it: out (9,).

    Distance, offset, speed along, speed to the right, half length, half width, and the claim.
    """
    s, offset, yaw = project(line, ego[0], ego[1])
    c, sn = math.cos(yaw), math.sin(yaw)
    turned = ego[2] - yaw
    out[0], out[1], out[6:] = s, offset, claim
    out[2], out[3] = velocity[0] * c + velocity[1] * sn, velocity[1] * c - velocity[0] * sn
    out[4] = 0.5 * (LENGTH * abs(math.cos(turned)) + WIDTH * abs(math.sin(turned)))
    out[5] = 0.5 * (LENGTH * abs(math.sin(turned)) + WIDTH * abs(math.cos(turned)))


@kernel
def indicate(ego, route, index, yields, waited, line, claims):  # type: ignore[no-untyped-def]
    """Egos about to move into a lane ask for it: claims (B, 3) = where cars should stay behind, offset, speed there.

    An ego beside the lane asks for the place beside it as soon as it indicates. One that comes from the side asks
    after it has waited for a second; waited (B,) counts the seconds at walking pace before such a place.
    """
    for b in range(ego.shape[0]):
        claims[b, 0], near = -1.0, False
        for y in range(yields.shape[1]):
            hold, merge = yields[b, y]
            if merge < 0 or not hold - 8 <= index[b] <= merge + 2:
                continue
            near = True
            s, _, yaw = project(line, route[b, merge, 0], route[b, merge, 1])
            _, claims[b, 1], _ = project(line, route[b, merge + SETTLED, 0], route[b, merge + SETTLED, 1])
            if math.cos(ego[b, 2] - yaw) > 0.8:
                here, _, _ = project(line, ego[b, 0], ego[b, 1])
                claims[b, 0], claims[b, 2] = here - 0.5 * LENGTH, ego[b, 3]
            elif waited[b] >= 1.0:
                claims[b, 0], claims[b, 2] = s - 5.0, 0.0
            break
        waited[b] = waited[b] + STEP_SECONDS * (ego[b, 3] < 1.5) if near else 0.0


@kernel
def find_leader(t, b, n, centre, actual, lanes, seen):  # type: ignore[no-untyped-def]
    """Gap to and speed of whatever drives ahead of car n, at lateral position `actual` and bound for `centre`.

    A car that changes lanes counts in both. The ego counts where it is, where its sideways motion leads it soon, and
    where it asks to be let in, if braking for it is no hardship.
    """
    gap, speed, own = np.inf, 0.0, t.cars[b, n, 3]
    s, half, width = t.s[b, n], 0.5 * t.size[b, n, 0], 0.5 * t.size[b, n, 1]
    for m in range(t.s.shape[1]):
        if m == n or not t.present[b, m] or t.s[b, m] <= s:
            continue
        room = width + 0.5 * t.size[b, m, 1] + 0.3
        theirs = lanes[t.lane[b, m]]
        if abs(theirs - centre) < room or abs(theirs + t.shift[b, m] - actual) < room:
            distance = t.s[b, m] - s - half - 0.5 * t.size[b, m, 0]
            if distance < gap:
                gap, speed = distance, t.cars[b, m, 3]
    if seen[0] > s:
        room = width + seen[5] + 0.3
        soon = seen[1] + min(max(seen[3], -1.0), 1.0)
        distance = seen[0] - seen[4] - s - half
        if min(abs(seen[1] - centre), abs(soon - centre), abs(seen[1] - actual)) < room and -1.5 < distance < gap:
            gap, speed = distance, max(seen[2], 0.0)
    distance = seen[6] - s - half
    easy = own * own - seen[8] * seen[8] < 5.0 * (distance - 1.0)
    if seen[6] >= 0.0 and abs(seen[7] - centre) < 1.0 and distance < gap and easy:
        gap, speed = distance, seen[8]
    return gap, speed


@kernel
def lane_is_free(t, b, n, lane, s, speed, lanes, seen, ego_room):  # type: ignore[no-untyped-def]
    """Whether a car at `s` fits into a lane: nobody close, and nobody who would have to brake hard.

    The ego's neighbourhood is left alone for two lanes on either side, for it may be about to change lanes itself.
    """
    for m in range(t.s.shape[1]):
        if m == n or not t.present[b, m]:
            continue
        if (
            abs(lanes[t.lane[b, m]] - lanes[lane]) > 1.0
            and abs(lanes[t.lane[b, m]] + t.shift[b, m] - lanes[lane]) > 2.2
        ):
            continue
        ahead = t.s[b, m] - s
        closing = (speed - t.cars[b, m, 3]) * (1.0 if ahead > 0.0 else -1.0)
        if abs(ahead) < 9.0 + max(0.0, closing) * 2.0:
            return False
    return abs(seen[0] - s) > ego_room or abs(seen[1] - lanes[lane]) > 5.5
