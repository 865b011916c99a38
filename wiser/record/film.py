"""Films: of any frames, and of a recording with its lanes side by side."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from wiser.files import replacing
from wiser.record.frame import FrameArtist
from wiser.record.recording import Recording

GIF_WIDTH = 640  # GIFs are for issues and slides: half the frames, and no wider than this


def to_mp4(recording: Recording, path: str | Path) -> Path:
    """Film all lanes side by side at the speed of the world."""
    artist = FrameArtist(recording)
    frames = (artist.draw(step) for step in range(recording.steps))
    return save_mp4(frames, path, recording.about.steps_per_second)


def to_gif(recording: Recording, path: str | Path) -> Path:
    """Film every second step as an endless GIF."""
    artist = FrameArtist(recording)
    frames = (artist.draw(step) for step in range(recording.steps))
    return save_gif(frames, path, recording.about.steps_per_second)


def save_film(frames: Iterable[NDArray[np.uint8]], path: str | Path, steps_per_second: float = 10.0) -> Path:
    """Write frames (H, W, 3) as .mp4 or .gif."""
    save = save_gif if Path(path).suffix == ".gif" else save_mp4
    return save(frames, path, steps_per_second)


def save_mp4(frames: Iterable[NDArray[np.uint8]], path: str | Path, steps_per_second: float) -> Path:
    """Write frames, all of one even size, as they come."""
    with replacing(path) as temporary:
        film: Any = None
        for frame in frames:
            if film is None:
                size = (frame.shape[1], frame.shape[0])
                film = cv2.VideoWriter(str(temporary), cv2.VideoWriter.fourcc(*"mp4v"), steps_per_second, size)
                if not film.isOpened():
                    raise RuntimeError(f"OpenCV cannot write {path}; try a name that ends in .mp4 or .gif")
            film.write(frame[..., ::-1])
        if film is None:
            raise ValueError(f"no frames for {path}")
        film.release()
    return Path(path)


def save_gif(frames: Iterable[NDArray[np.uint8]], path: str | Path, steps_per_second: float) -> Path:
    """Write every second frame, made smaller if it is large."""
    from PIL import Image

    small = []
    for frame in islice(frames, None, None, 2):
        height, width = frame.shape[:2]
        share = min(1.0, GIF_WIDTH / width)
        small.append(Image.fromarray(frame).resize((round(width * share), round(height * share))))
    if not small:
        raise ValueError(f"no frames for {path}")
    with replacing(path) as temporary:
        duration = round(2 * 1000 / steps_per_second)
        small[0].save(temporary, save_all=True, append_images=small[1:], duration=duration, loop=0)
    return Path(path)
