"""A picture of every fault at several intensities."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.faults.presets import PRESETS
from wiser.faults.registry import APPLIES, apply
from wiser.names import perhaps

_FRAMES = 24  # faults of a stream are shown at the end of a moving sequence


def gallery(
    out: Path,
    image: Path | None = None,
    preset: str = "default",
    intensities: Sequence[float] = (0.25, 0.5, 1.0),
    seed: int = 0,
) -> Path:
    """Draw every fault, a clean column first and then one for each intensity; on a drawn street without an image."""
    if preset not in PRESETS:
        raise ValueError(f"unknown preset {preset!r}{perhaps(preset, PRESETS)}; choose from {', '.join(PRESETS)}")
    if not intensities:
        raise ValueError("name at least one intensity, such as 0.5")
    if not cv2.haveImageWriter(str(out)):
        raise ValueError(f"cannot write {out}: name a picture, such as faults.png")
    moving = _sequence(_street() if image is None else _read(image))  # (T, H, W, 3)
    strips = []
    for name in sorted(APPLIES["image"]):
        tiles = [_break(moving, name, intensity, preset, seed) for intensity in (0.0, *intensities)]
        strips.append(np.concatenate([_label(name), *tiles], 1))
    strips += [np.full_like(strips[0], 255)] * (len(strips) % 2)
    half = len(strips) // 2
    sheet = np.concatenate([np.concatenate(strips[:half]), np.concatenate(strips[half:])], 1)
    out.parent.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(out), cv2.cvtColor(sheet, cv2.COLOR_RGB2BGR)):
        raise ValueError(f"could not write {out}")
    return out


def _break(moving: NDArray[np.uint8], name: str, intensity: float, preset: str, seed: int) -> NDArray[np.uint8]:
    broken = apply(name, moving, intensity, np.random.default_rng(seed), preset=preset)
    frame = np.ma.filled(broken[-1], 128) if isinstance(broken, np.ma.MaskedArray) else broken[-1]
    return cv2.copyMakeBorder(frame, 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=(205, 205, 205)).astype(np.uint8)


def _sequence(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.stack([np.roll(picture, 2 * (_FRAMES - 1 - t), axis=1) for t in range(_FRAMES)])


def _read(path: Path) -> NDArray[np.uint8]:
    picture = cv2.imread(str(path)) if path.is_file() else None
    if picture is None:
        raise ValueError(f"{path} is not a readable picture")
    return cv2.cvtColor(cv2.resize(picture, (128, 128), interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2RGB).astype(
        np.uint8
    )


def _label(text: str) -> NDArray[np.uint8]:
    tile: NDArray[Any] = np.full((132, 116, 3), 255, np.uint8)
    cv2.putText(tile, text, (8, 70), cv2.FONT_HERSHEY_SIMPLEX, 0.55, (30, 30, 30), 1, cv2.LINE_AA)
    return tile


def _street() -> NDArray[np.uint8]:
    """A street with a hill, a sun and a red car, 128 x 128."""
    sky = np.linspace(150, 215, 128)[:, None, None] * np.array([0.72, 0.85, 1.1])
    scene = np.ascontiguousarray(np.broadcast_to(sky, (128, 128, 3)).clip(0, 255).astype(np.uint8))
    ridge = np.array([[x, int(66 - 9 * np.sin(x / 19) - 5 * np.sin(x / 7))] for x in range(128)])
    cv2.fillPoly(scene, [np.vstack([ridge, [[127, 127], [0, 127]]]).astype(np.int32)], (70, 120, 60), cv2.LINE_AA)
    cv2.fillPoly(scene, [np.array([[58, 66], [70, 66], [116, 127], [12, 127]], np.int32)], (95, 95, 100), cv2.LINE_AA)
    for top, bottom in ((72, 78), (84, 94), (103, 120)):
        cv2.line(scene, (64, top), (64, bottom), (235, 235, 235), 2, cv2.LINE_AA)
    cv2.circle(scene, (100, 24), 10, (255, 236, 150), -1, cv2.LINE_AA)
    cv2.rectangle(scene, (74, 84), (92, 97), (200, 40, 40), -1, cv2.LINE_AA)
    cv2.rectangle(scene, (77, 79), (89, 85), (120, 170, 200), -1, cv2.LINE_AA)
    return scene
