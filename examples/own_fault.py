"""Your own fault: a class with two methods, and it works wherever faults do: scenarios, sweeps, the cockpit.

A camera whose lens fogs up: blurred more and more the longer it has been broken.
Run: python examples/own_fault.py
"""

from __future__ import annotations

import cv2
import numpy as np

import wiser
from wiser.faults import FAULTS, Fault, Frame, Rng, Scenario, Severity, Signal

SLOW = 40  # steps until the fog is as thick as it gets


class Fog:
    """One sensor of one row in one episode: what it remembers dies with it."""

    def __init__(self, signal: Signal, severity: Severity) -> None:
        self.white, self.steps = signal.high, 0

    def watch(self, frame: Frame) -> None:
        """A step on which the sensor works."""
        self.steps = 0

    def corrupt(self, frame: Frame, intensity: float, rng: Rng) -> Frame:
        """Break a frame; `intensity` is above 0. Draw from `rng` only, and every run repeats."""
        self.steps += 1
        thick = min(1.0, intensity) * min(1.0, self.steps / SLOW)
        blurred = cv2.GaussianBlur(frame.astype(np.float32), (0, 0), 0.1 + 6 * thick).reshape(frame.shape)
        return (blurred + 0.7 * thick * (self.white - blurred)).astype(frame.dtype)


FAULTS["fog"] = Fault("fog", "the lens fogs up", ("image",), Fog)


def main(episodes: int = 16) -> wiser.evaluate.benchmark.Comparison:
    """Two cameras of a shipped agent fog up; with and without a guard."""
    fog = Scenario(faults=("fog",), sensors=4, onset=20)
    return wiser.benchmark("stop-sign/dropout", "wiser/StopSign-v0", [fog], ["none", "calibrated"], episodes=episodes)


if __name__ == "__main__":
    print(main())
