"""How the arm moves: it pours, with hesitations that no picture foretells, or it moves at random to and fro."""

from __future__ import annotations

import numpy as np

from wiser.video.small.scene import LIP, Look, Pose, turn

STEEP = 1.75
"""Tilt at which a pitcher is held while it pours, in radians."""
SPILLS = 0.9
"""Tilt from which on it pours."""
DURATION = (40, 70)
"""Pictures of a whole pouring without hesitation."""
REACH = ((0.42, 0.80), (0.30, 0.56))
"""Where a hand may be, in x and y."""


def pour(look: Look, pictures: int, rng: np.random.Generator) -> list[Pose]:
    """Part of a pouring, from a moment at random on: reach for the glass, tilt, pour, set the pitcher upright, go back.

    Speed and rest are the arm's own affair: it hesitates, hurries and trembles, and the liquid flows unevenly.
    """
    rest = np.array((rng.uniform(0.56, 0.68), rng.uniform(0.36, 0.5)))
    height, steep = rng.uniform(0.3, 0.4), rng.uniform(0.8, 1.0) * STEEP
    usual = 1.0 / rng.uniform(*DURATION)
    progress, pace = rng.uniform(0.0, 0.85), rng.uniform(0.3, 1.6)
    rate, level, stock = rng.uniform(0.015, 0.035), rng.uniform(0.05, 0.5), rng.uniform(0.5, 1.0)
    shiver, tremble = np.zeros(2), rng.uniform(0.0, 0.004)
    poses = []
    for _ in range(pictures):
        reach, lean = _course(progress)
        tilt = steep * lean
        over = np.array((look.glass, height)) - turn(tilt) @ LIP  # the lip stays above the glass
        hand = rest + reach * (over - rest) + shiver
        flow = float(np.clip((tilt - SPILLS) / (STEEP - SPILLS), 0.0, 1.0)) * min(1.0, stock / 0.05)
        poses.append(Pose((float(hand[0]), float(hand[1])), tilt, stock, level, flow))
        poured = min(rate * flow * rng.uniform(0.5, 1.5), stock)
        stock, level = stock - poured, min(1.0, level + poured)
        if rng.random() < 0.06:  # it thinks better of it
            pace = 0.0 if rng.random() < 0.3 else rng.uniform(0.3, 2.2)
        pace += 0.15 * rng.standard_normal()
        progress = min(1.0, progress + usual * float(np.clip(pace, 0.0, 2.5)))
        shiver = 0.8 * shiver + tremble * rng.standard_normal(2)
    return poses


def wander(look: Look, pictures: int, rng: np.random.Generator) -> list[Pose]:
    """Everything moves on its own, faster than it pours, and turns back at random: nothing follows from anything."""
    low, high = np.array([*zip(*REACH, strict=True)])
    low, high = (np.array([*ends]) for ends in ((*low, 0.0, 0.0, 0.0, -0.5), (*high, STEEP, 1.0, 1.0, 1.0)))
    state = rng.uniform(low, high)
    haste = 0.1 * rng.random() ** 2 * (high - low)  # mostly slow: what hardly moves must come back so
    speed = haste * rng.standard_normal(6)
    poses = []
    for _ in range(pictures):
        x, y, tilt, stock, level, flow = state.tolist()
        poses.append(Pose((x, y), tilt, stock, level, max(0.0, flow)))
        renewed = rng.random(6) < 0.25
        speed = np.where(renewed, haste * rng.standard_normal(6), speed)
        state = state + speed
        speed = np.where((state < low) | (state > high), -speed, speed)
        state = np.clip(state, low, high)
    return poses


def _course(progress: float) -> tuple[float, float]:
    """How far the hand has come to the glass, and how far the pitcher is tilted, both 0 to 1."""
    reach = _ease(progress / 0.3) * _ease((1.0 - progress) / 0.15)
    lean = _ease((progress - 0.22) / 0.25) * _ease((0.9 - progress) / 0.15)
    return reach, lean


def _ease(share: float) -> float:
    share = min(1.0, max(0.0, share))
    return share * share * (3.0 - 2.0 * share)
