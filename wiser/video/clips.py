"""Clips on disk: mp4 in and out by PyAV, and arrays as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from wiser.extras import install_hint
from wiser.files import replacing
from wiser.video.predictor import Pixels

try:
    import av
except ImportError as error:
    raise ImportError(f"videos need the package av: {install_hint('cosmos')}") from error

SUFFIXES = (".mp4", ".npy")
RATE = Fraction(16)
"""Frames a second, where a file does not say."""
CRF = "10"
"""Of x264: what coding takes away is below what people see. The gate sees the codec's traces, as it would anybody's."""


@dataclass(frozen=True, eq=False)
class Clip:
    """Frames and how fast they follow."""

    frames: Pixels  # (T, H, W, 3)
    rate: Fraction  # frames a second


def read_clip(path: Path, size: tuple[int, int] | None = None) -> Clip:
    """Read a video, or an array (T, H, W, 3) of uint8 in a .npy file; `size` is (height, width) to resize to."""
    if path.suffix == ".npy":
        return Clip(np.stack([_sized(frame, size) for frame in _read_array(path)]), RATE)
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise ValueError(f"{path} holds no video")
            stream = container.streams.video[0]
            frames = [_sized(frame.to_ndarray(format="rgb24"), size) for frame in container.decode(stream)]
            rate = stream.average_rate or RATE
    except av.FFmpegError as error:
        raise ValueError(f"{path} is no readable video: {error}") from error
    if not frames:
        raise ValueError(f"{path} holds no frames")
    return Clip(np.stack(frames), Fraction(rate))


def write_clip(path: Path, frames: Pixels, rate: Fraction) -> Path:
    """Write an mp4 that browsers play, or an array where `path` ends in .npy; it is replaced at once or not."""
    if path.suffix == ".npy":
        with replacing(path) as temporary:
            np.save(temporary, frames)
        return path
    height, width = frames.shape[1:3]
    if height % 2 or width % 2:
        raise ValueError(f"an mp4 has even sides, got {height} x {width}")
    with replacing(path) as temporary, av.open(str(temporary), "w") as container:
        stream: Any = container.add_stream("libx264", rate=rate, options={"crf": CRF})
        stream.height, stream.width, stream.pix_fmt = height, width, "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")))
        container.mux(stream.encode())
    return path


def find_clips(paths: Sequence[Path]) -> list[Path]:
    """The videos that are named, and those in folders that are; each by a name of its own."""
    found = [clip for path in paths for clip in (_in_folder(path) if path.is_dir() else [path])]
    if missing := [path for path in found if not path.is_file()]:
        raise ValueError(f"no video {missing[0]}")
    if not found:
        raise ValueError(f"no {' or '.join(SUFFIXES)} in {', '.join(map(str, paths))}")
    if twice := sorted({path.stem for path in found if sum(path.stem == other.stem for other in found) > 1}):
        raise ValueError(f"two videos are called {twice[0]}: what comes of them would have one name")
    return found


def _in_folder(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and not path.name.startswith("."))


def _read_array(path: Path) -> Pixels:
    try:
        frames = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is no readable array: {error}") from error
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3 or not len(frames):
        raise ValueError(f"{path} holds {frames.shape} of {frames.dtype}; frames are (T, H, W, 3) of uint8")
    return np.asarray(frames)


def _sized(frame: Any, size: tuple[int, int] | None) -> Any:
    if size is None or frame.shape[:2] == size:
        return frame
    shrinks = frame.shape[0] >= size[0] and frame.shape[1] >= size[1]
    return cv2.resize(frame, size[::-1], interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC)
