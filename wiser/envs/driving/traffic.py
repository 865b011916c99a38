"""Traffic: the other cars follow their leader (IDM), change lanes (MOBIL), come and go.

On the motorway a window of traffic travels with the ego: a car that leaves it at one end comes back at the other. At
the junction a flow with drawn gaps enters at one end of the corridor and leaves at the other.
"""

from __future__ import annotations

import math

import numpy as np

from wiser.envs.driving.drivers import PLAN_POINTS, describe_ego, draw, find_leader, idm, lane_is_free
from wiser.envs.driving.roads import SAMPLE
from wiser.envs.driving.tasks import STEP_SECONDS
from wiser.kernels import kernel

AHEAD, BEHIND = 90.0, 70.0  # the window of traffic round the ego on the motorway, metres
PLAN_SPACING = 1.5  # metres between the points of a car's path
LANE_CHANGE_SPEED = 1.2  # m/s sideways
FLOW_SPEED = 5.0
PAINTS = np.array(
    [[200, 60, 50], [60, 105, 190], [225, 225, 222], [60, 64, 70], [205, 165, 60], [120, 150, 130], [150, 80, 140]],
    np.float64,
)


@kernel
def consider_lane_change(t, b, n, own, lanes, seen):  # type: ignore[no-untyped-def]
    """MOBIL in small: now and then look aside, go where driving is easier and nobody is cut off."""
    if t.shift[b, n] != 0.0 or t.cars[b, n, 3] < 1.5 or draw(t.rng, b) > 0.03:
        return
    lane = t.lane[b, n] + (1 if draw(t.rng, b) < 0.5 else -1)
    if lane < 0 or lane >= lanes.shape[0]:
        return
    speed = t.cars[b, n, 3]
    if not lane_is_free(t, b, n, lane, t.s[b, n], speed, lanes, seen, 14.0):
        return
    gap, leader = find_leader(t, b, n, lanes[lane], lanes[lane], lanes, seen)
    if idm(speed, t.wish[b, n], gap, leader) > own + 0.2 or draw(t.rng, b) < 0.1:
        t.shift[b, n] = lanes[t.lane[b, n]] - lanes[lane]
        t.lane[b, n] = lane


@kernel
def dress(t, b, n):  # type: ignore[no-untyped-def]
    """Draw a car's size and paint."""
    t.size[b, n, 0] = 4.2 + 0.9 * draw(t.rng, b)
    t.size[b, n, 1] = 1.75 + 0.2 * draw(t.rng, b)
    t.size[b, n, 2] = 1.4 + 0.4 * draw(t.rng, b)
    t.paint[b, n] = PAINTS[int(draw(t.rng, b) * PAINTS.shape[0])]


@kernel
def respawn_in_window(t, b, n, lanes, seen):  # type: ignore[no-untyped-def]
    """Bring a car that left the ego's window back at the other end, faster from behind, slower from ahead."""
    ahead = t.s[b, n] < seen[0]
    s = seen[0] + (AHEAD - 1.0 if ahead else 1.0 - BEHIND)
    lane = int(draw(t.rng, b) * lanes.shape[0])
    wish = 3.8 + 1.2 * draw(t.rng, b) if ahead else 5.0 + 3.0 * draw(t.rng, b)
    if lane_is_free(t, b, n, lane, s, wish, lanes, seen, 12.0):
        t.lane[b, n], t.s[b, n], t.shift[b, n] = lane, s, 0.0
        t.wish[b, n] = wish
        t.cars[b, n, 3] = wish
        dress(t, b, n)


@kernel
def feed_flow(t, b, lane, line, lanes, low, high):  # type: ignore[no-untyped-def]
    """Let the next car of the flow in once the last one is its gap away."""
    last, speed, slot = np.inf, FLOW_SPEED, -1
    for n in range(t.s.shape[1]):
        if not t.present[b, n]:
            slot = n
        elif t.s[b, n] - 0.5 * t.size[b, n, 0] < last:
            last, speed = t.s[b, n] - 0.5 * t.size[b, n, 0], t.cars[b, n, 3]
    if slot < 0 or last < t.gap[b] + 2.6:
        return
    dress(t, b, slot)
    t.present[b, slot], t.lane[b, slot], t.shift[b, slot] = True, lane, 0.0
    t.s[b, slot] = last - t.gap[b] - 0.5 * t.size[b, slot, 0] if last < np.inf else 3.0
    t.wish[b, slot] = FLOW_SPEED - 0.3 + 0.6 * draw(t.rng, b)
    t.cars[b, slot, 3] = min(t.wish[b, slot], speed)
    t.gap[b] = low + (high - low) * draw(t.rng, b)
    place(t, b, slot, line, lanes, 0.0)


@kernel
def place(t, b, n, line, lanes, sideways):  # type: ignore[no-untyped-def]
    """Write a car's pose and planned path from its place in the corridor."""
    p = min(max(t.s[b, n] / SAMPLE, 0.0), line.shape[0] - 1.001)
    yaw = line[int(p), 2]
    centre = lanes[t.lane[b, n]]
    for k in range(PLAN_POINTS + 1):
        offset = centre + t.shift[b, n] * max(0.0, 1.0 - k * PLAN_SPACING / 9.0)
        q = min(p + k * PLAN_SPACING / SAMPLE, line.shape[0] - 1.001)
        i, f = int(q), q - int(q)
        x = line[i, 0] + (line[i + 1, 0] - line[i, 0]) * f - offset * math.sin(line[i, 2])
        y = line[i, 1] + (line[i + 1, 1] - line[i, 1]) * f + offset * math.cos(line[i, 2])
        if k == 0:
            t.cars[b, n, 0], t.cars[b, n, 1] = x, y
        else:
            t.plans[b, n, k - 1, 0], t.plans[b, n, k - 1, 1] = x, y
    t.cars[b, n, 2] = yaw + math.atan2(sideways, max(t.cars[b, n, 3], 2.0))


@kernel
def move_traffic(t, line, lanes, ego, velocity, claims, low, high, active):  # type: ignore[no-untyped-def]
    """One step of all cars; low and high are the gaps of a flow in the last lane, or negative for window traffic."""
    seen, wanted = np.zeros(9), np.zeros(t.s.shape[1])
    for b in range(t.s.shape[0]):
        if not active[b]:
            continue
        describe_ego(line, ego[b], velocity[b], claims[b], seen)
        for n in range(t.s.shape[1]):
            if t.present[b, n]:
                centre = lanes[t.lane[b, n]]
                gap, leader = find_leader(t, b, n, centre, centre + t.shift[b, n], lanes, seen)
                wanted[n] = idm(t.cars[b, n, 3], t.wish[b, n], gap, leader)
        for n in range(t.s.shape[1]):
            if not t.present[b, n]:
                continue
            speed = max(t.cars[b, n, 3] + wanted[n] * STEP_SECONDS, 0.0)
            t.s[b, n] += 0.5 * (speed + t.cars[b, n, 3]) * STEP_SECONDS
            t.cars[b, n, 3] = speed
            sideways = min(LANE_CHANGE_SPEED, 0.35 * speed)
            step = min(sideways * STEP_SECONDS, abs(t.shift[b, n]))
            sideways = -math.copysign(sideways, t.shift[b, n]) if step > 0.0 else 0.0
            t.shift[b, n] += math.copysign(step, sideways)
            if low < 0.0:
                consider_lane_change(t, b, n, wanted[n], lanes, seen)
                if t.s[b, n] > seen[0] + AHEAD or t.s[b, n] < seen[0] - BEHIND:
                    respawn_in_window(t, b, n, lanes, seen)
            elif t.s[b, n] > (line.shape[0] - 1) * SAMPLE:
                t.present[b, n] = False
            place(t, b, n, line, lanes, sideways)
        if low >= 0.0:
            feed_flow(t, b, lanes.shape[0] - 1, line, lanes, low, high)


@kernel
def _fill_window(t, b, lanes, seen):  # type: ignore[no-untyped-def]
    for n in range(t.s.shape[1]):
        for _ in range(30):
            lane = int(draw(t.rng, b) * lanes.shape[0])
            s = seen[0] - BEHIND + (AHEAD + BEHIND) * draw(t.rng, b)
            wish = 4.0 + 3.0 * draw(t.rng, b)
            beside = abs(seen[1] - lanes[lane]) > 2.0 and abs(s - seen[0]) > 7.0
            if lane_is_free(t, b, n, lane, s, wish, lanes, seen, 0.0 if beside else 14.0):
                t.present[b, n], t.lane[b, n], t.s[b, n], t.wish[b, n] = True, lane, s, wish
                t.cars[b, n, 3] = min(wish, 5.0)
                dress(t, b, n)
                break


@kernel
def _fill_flow(t, b, lane, length, low, high):  # type: ignore[no-untyped-def]
    front = length
    for n in range(t.s.shape[1]):
        dress(t, b, n)
        s = front - 0.5 * t.size[b, n, 0]
        if s < 4.0:
            break
        t.present[b, n], t.lane[b, n], t.s[b, n] = True, lane, s
        t.wish[b, n] = FLOW_SPEED - 0.3 + 0.6 * draw(t.rng, b)
        t.cars[b, n, 3] = t.wish[b, n]
        front = s - 0.5 * t.size[b, n, 0] - (low + (high - low) * draw(t.rng, b))


@kernel
def populate(t, line, lanes, ego, low, high, mask):  # type: ignore[no-untyped-def]
    """Fill the roads of the masked worlds at the beginning of an episode; t.rng must have been seeded."""
    seen, standing, no_claim = np.zeros(9), np.zeros(2), np.array([-1.0, 0.0, 0.0])
    for b in range(t.s.shape[0]):
        if not mask[b]:
            continue
        describe_ego(line, ego[b], standing, no_claim, seen)
        t.present[b], t.shift[b] = False, 0.0
        t.gap[b] = low + (high - low) * draw(t.rng, b)
        if low < 0.0:
            _fill_window(t, b, lanes, seen)
        else:
            _fill_flow(t, b, lanes.shape[0] - 1, line.shape[0] * SAMPLE, low, high)
        for n in range(t.s.shape[1]):
            if t.present[b, n]:
                place(t, b, n, line, lanes, 0.0)
