"""Small videos."""

import numpy as np


def moving(length: int = 6, height: int = 72, width: int = 100, speed: int = 3) -> np.ndarray:
    """A textured square that moves over a textured ground, (T, H, W, 3) uint8."""
    rng = np.random.default_rng(5)
    ground = smooth(rng, height, width)
    square = 255 - smooth(rng, height // 3, height // 3)
    frames = np.repeat(ground[None], length, 0)
    for t, frame in enumerate(frames):
        left = 5 + speed * t
        frame[height // 3 : 2 * (height // 3), left : left + height // 3] = square
    return frames


def smooth(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """A picture with coarse and fine structure."""
    coarse = rng.integers(40, 200, (height // 8 + 1, width // 8 + 1, 3)).repeat(8, 0).repeat(8, 1)[:height, :width]
    return (coarse + rng.integers(-20, 20, (height, width, 3))).astype(np.uint8)


def noisy(frames: np.ndarray, seed: int = 0, spread: float = 40.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (frames + rng.normal(0.0, spread, frames.shape)).clip(0, 255).astype(np.uint8)
