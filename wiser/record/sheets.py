"""Frames packed into sprite sheets, as data URIs a page can draw from without asking anybody."""

from __future__ import annotations

import base64
import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

PIXELS = 1 << 18  # of one sheet: a browser unpacks whole sheets, so those in use must be small
CHEAP = 0.25  # bytes per pixel up to which frames are kept exactly: drawings are, photographs and noise are not
PHOTOGRAPH = 128  # pixels of width from which on nobody counts them
QUALITY, PHOTOGRAPH_QUALITY, EXACT = 85, 70, 101  # as OpenCV counts: above 100 is lossless


def sheets(frames: NDArray[np.uint8], exact: bool = True) -> dict[str, Any]:
    """(T, H, W, C) -> {width, height, columns, per_sheet, images}.

    Frame t is cell t % per_sheet of image t // per_sheet. exact: keep every pixel where that is cheap.
    """
    frames = displayable(frames)
    total, height, width, _ = frames.shape
    per_sheet = max(1, min(total, PIXELS // (height * width)))
    columns = math.ceil(math.sqrt(per_sheet * height / width))
    quality = QUALITY if exact and width <= PHOTOGRAPH else PHOTOGRAPH_QUALITY
    packed = (_tile(frames[t : t + per_sheet], columns) for t in range(0, total, per_sheet))
    images = [_data_uri(image, quality, exact) for image in packed]
    return {"width": width, "height": height, "columns": columns, "per_sheet": per_sheet, "images": images}


def displayable(frames: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Any number of channels -> (..., 3): grey is repeated, of more than three the first are shown."""
    channels = frames.shape[-1]
    if channels >= 3:
        return frames[..., :3]
    return np.repeat(frames[..., :1], 3, -1)


def _tile(frames: NDArray[np.uint8], columns: int) -> NDArray[np.uint8]:
    total, height, width, _ = frames.shape
    rows = math.ceil(total / columns)
    cells = np.zeros((rows * columns, height, width, 3), np.uint8)
    cells[:total] = frames
    grid = cells.reshape(rows, columns, height, width, 3).transpose(0, 2, 1, 3, 4)
    return grid.reshape(rows * height, columns * width, 3)


def _data_uri(image: NDArray[np.uint8], quality: int, exact: bool) -> str:
    data = _encode(image, EXACT if exact else quality)
    if exact and len(data) > CHEAP * image.shape[0] * image.shape[1]:
        data = _encode(image, quality)
    return "data:image/webp;base64," + base64.b64encode(data).decode()


def _encode(image: NDArray[np.uint8], quality: int) -> bytes:
    done, data = cv2.imencode(".webp", image[..., ::-1], [cv2.IMWRITE_WEBP_QUALITY, quality])
    if not done:
        raise RuntimeError("OpenCV cannot write WebP here")
    return data.tobytes()
