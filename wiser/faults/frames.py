"""Faults of a single frame. Each breaks one frame in place: (H, W, C) image or (n,) vector."""

from functools import cache
from math import ceil
from statistics import NormalDist

import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.faults.fault import BOTH, IMAGE, Rng, frame_fault
from wiser.faults.presets import Severity
from wiser.faults.signal import Frame, Signal, affine, store

LEVELS = 1 << 16


@frame_fault(BOTH)
def gaussian(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """Normal noise on every value; mean and spread grow with intensity."""
    if frame.dtype == np.uint8:
        noise = _normal_quantiles().take(_bits(frame.size, rng)).reshape(frame.shape)
    else:
        noise = rng.standard_normal(frame.shape, dtype=frame.dtype)
    noise *= intensity * severity.gaussian_std * signal.scale
    noise += intensity * severity.gaussian_mean * signal.scale
    noise += frame
    store(frame, noise, signal)


@cache
def _normal_quantiles() -> NDArray[np.float32]:
    # Looking a quantile up is five times as fast as drawing a normal float and, rounded to 256 levels, as good.
    normal = NormalDist()
    return np.array([normal.inv_cdf((level + 0.5) / LEVELS) for level in range(LEVELS)], np.float32)


def _bits(count: int, rng: Rng) -> NDArray[np.uint16]:
    """Uniform integers of 16 bits, drawn four at a time: much faster than floats and fine enough for pixels."""
    words = rng.integers(0, 2**64 - 1, -(-count // 4), dtype=np.uint64, endpoint=True)
    return words.view(np.uint16)[:count]


@frame_fault(BOTH)
def glare(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """A bright veil under which the picture fades; from intensity 1 on only the veil is left. Vectors saturate."""
    weight = min(1.0, intensity)
    reach = min(1.0, intensity * severity.glare_level)  # of the way from dark to white; grows on beyond intensity 1
    if signal.kind == "vector":
        affine(frame, 1.0 - weight, weight * signal.ceiling, signal)
    else:
        affine(frame, 1.0 - weight, weight * signal.floor + reach * (signal.ceiling - signal.floor), signal)


@frame_fault(BOTH)
def jitter(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """Contrast and brightness (of a vector: gain and offset) wander from frame to frame, up or down."""
    amplitude = min(1.0, intensity)  # a picture must stay a picture: beyond 1 it would turn into glare or blackout
    contrast, brightness = rng.uniform(-amplitude, amplitude, 2).tolist()
    gain = severity.jitter_contrast**contrast
    shift = severity.jitter_brightness * brightness * signal.scale
    pivot = cv2.mean(frame.reshape(-1))[0] if signal.kind == "image" else 0.0
    affine(frame, gain, pivot * (1.0 - gain) + shift, signal)


@frame_fault(IMAGE)
def occlusion(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """A black rectangle somewhere in the picture; its sides grow with intensity until it covers everything."""
    H, W, _ = frame.shape
    shortest, longest = severity.occlusion_side
    tall, wide, down, right = rng.random(4).tolist()
    h = ceil(H * min(1.0, intensity * (shortest + tall * (longest - shortest))))
    w = ceil(W * min(1.0, intensity * (shortest + wide * (longest - shortest))))
    y, x = int(down * (H - h + 1)), int(right * (W - w + 1))
    frame[y : y + h, x : x + w] = signal.dark


@frame_fault(IMAGE)
def chrome(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """Chromatic aberration: every channel is shifted its own way, the border is reflected."""
    H, W, C = frame.shape
    reach = severity.chrome_base + severity.chrome_slope * intensity
    my, mx = min(ceil(reach * H), H - 1), min(ceil(reach * W), W - 1)
    padded = cv2.copyMakeBorder(frame, my, my, mx, mx, cv2.BORDER_REFLECT_101)  # (H + 2 my, W + 2 mx, C)
    for channel, (down, right) in enumerate(rng.random((C, 2)).tolist()):
        top, left = int(down * (2 * my + 1)), int(right * (2 * mx + 1))
        frame[..., channel] = padded[top : top + H, left : left + W, channel]


@frame_fault(BOTH)
def blackout(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """The signal dies away; at intensity 1 it is black (vectors: zero)."""
    weight = min(1.0, intensity)
    affine(frame, 1.0 - weight, weight * signal.dark, signal)


@frame_fault(BOTH)
def nonfinite(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """Some values, at least one, are NaN or infinite; in uint8, which cannot hold them, 0 or 255 in single channels."""
    flat = frame.reshape(-1)
    hit, draw = _pick(len(flat), intensity * severity.nonfinite_fraction, rng)
    if frame.dtype == np.uint8:
        flat[hit] = np.where(draw & 1, 255, 0)
    else:
        flat[hit] = np.array((np.nan, np.inf, -np.inf))[draw % 3]


@frame_fault(BOTH)
def salt(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """Salt and pepper: some pixels, at least one, are white or black. Vectors: elements at the ends of the range."""
    pixels = frame.reshape(-1, frame.shape[-1] if signal.kind == "image" else 1)  # (H * W, C) or (n, 1)
    hit, draw = _pick(len(pixels), intensity * severity.salt_fraction, rng)
    white = (draw & 1).astype(bool)
    for end, where in ((signal.floor, hit[~white]), (signal.ceiling, hit[white])):
        pixels[where] = end if np.ndim(end) == 0 else end[where, None]


def _pick(count: int, fraction: float, rng: Rng) -> tuple[NDArray[np.intp], NDArray[np.uint16]]:
    """Indices below `count`, each with probability `fraction` but at least one, and the random bits of each."""
    draw = _bits(count, rng)
    threshold = max(round(min(1.0, fraction) * LEVELS), int(draw.min()) + 1)
    hit = np.flatnonzero(draw < threshold)
    return hit, draw[hit]


@frame_fault(IMAGE)
def blur(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """Out of focus: a box blur whose radius grows with intensity."""
    shorter = min(frame.shape[:2])
    radius = min(intensity * severity.blur_radius * shorter, float(shorter))
    inner = int(radius)
    small, large = (cv2.blur(frame, (2 * r + 1, 2 * r + 1)) for r in (inner, inner + 1))
    # Between two whole radii the pictures are mixed, so that the blur grows continuously.
    frame[...] = cv2.addWeighted(small, 1.0 - (radius - inner), large, radius - inner, 0.0).reshape(frame.shape)


@frame_fault(IMAGE)
def stripes(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """Dead rows: some lines of pixels are black."""
    H = len(frame)
    count = ceil(min(1.0, intensity * severity.stripes_fraction) * H)
    frame[rng.permutation(H)[:count]] = signal.dark


@frame_fault(IMAGE)
def swap(frame: Frame, intensity: float, rng: Rng, signal: Signal, severity: Severity) -> None:
    """Every channel takes another's place; below intensity 1 the wrong picture shows through the right one."""
    weight = min(1.0, intensity)
    order = rng.permutation(frame.shape[-1]).tolist()
    cycle = zip(order, order[1:] + order[:1], strict=True)  # one cycle through all channels: none stays where it was
    moved = np.empty_like(frame)  # (H, W, C)
    cv2.mixChannels([frame], [moved], [channel for pair in cycle for channel in pair])
    frame[...] = moved if weight == 1 else cv2.addWeighted(frame, 1.0 - weight, moved, weight, 0.0)
