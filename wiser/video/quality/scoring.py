"""Scores of one video, and of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from wiser.video.quality.backbones import Backbones
from wiser.video.quality.dimensions import DIMENSIONS, Clip, Dimension
from wiser.video.quality.views import Frames, Picture

PROXY = "proxy_"
"""What names of scores begin with that no network of PAI-Bench stands behind."""


class Scores(dict[str, float | None]):
    """A score for each dimension, or None where there is none; `missing` says why."""

    def __init__(self, values: Mapping[str, float | None], missing: Mapping[str, str], frames: int) -> None:
        super().__init__(values)
        self.missing = dict(missing)
        self.frames = frames
        """Of the video, or of all videos."""

    def mean(self, normalised: bool = False) -> float | None:
        """PAI quality as the paper has it, the mean of the eight; None unless all eight are PAI-Bench's own.

        normalised: as VBench's leaderboard has it, each dimension first stretched from its worst (0) to its best (1).
        """
        known = {name: value for name in DIMENSIONS if (value := self.get(name)) is not None}
        if len(known) < len(DIMENSIONS):
            return None
        if normalised:
            known = {name: DIMENSIONS[name].stretched(value) for name, value in known.items()}
        return float(np.mean(list(known.values())))


def score(
    frames: Frames, reference: Picture | None = None, prompt: str | None = None, *, backbones: Backbones
) -> Scores:
    """What the networks say of a video, by dimension; names begin with `proxy_` unless they are PAI-Bench's own.

    frames: (T, H, W, 3) uint8, RGB.
    reference: the picture that the video was to go on from, (H, W, 3); the paper's is the last clean frame.
    prompt: what it was to show.
    """
    _check(frames, reference)
    clip = Clip(frames, reference, prompt or None)
    values: dict[str, float | None] = {}
    missing = {}
    for name, dimension in DIMENSIONS.items():
        called = PROXY * backbones.proxy + name
        if reason := _obstacle(clip, name, dimension, backbones):
            values[called], missing[called] = None, reason
            continue
        with torch.inference_mode():
            values[called] = dimension.measure(clip, backbones.networks[name])
    return Scores(values, missing, len(frames))


def over_videos(videos: Sequence[Scores]) -> Scores:
    """Means over videos, as PAI-Bench reports them: of some dimensions by frame, of the others by video.

    A dimension that one of the videos has no score in has none over all.
    """
    if not videos or any(video.keys() != videos[0].keys() for video in videos):
        raise ValueError("scores over videos need videos, all scored in the same dimensions")
    values: dict[str, float | None] = {}
    missing = {}
    for name in videos[0]:
        if lacking := [video for video in videos if video[name] is None]:
            values[name] = None
            missing[name] = f"{len(lacking)} of {len(videos)} videos have none: {lacking[0].missing[name]}"
            continue
        weighted = DIMENSIONS[name.removeprefix(PROXY)].weighted
        weights = [video.frames - 1 if weighted else 1 for video in videos]  # the first frame is compared with none
        values[name] = float(np.average([video[name] for video in videos], weights=weights))
    return Scores(values, missing, sum(video.frames for video in videos))


def _obstacle(clip: Clip, name: str, dimension: Dimension, backbones: Backbones) -> str:
    """Why a clip cannot be scored in a dimension; nothing if it can."""
    if name not in backbones.networks:
        return backbones.missing.get(name, "no network was given for it")
    if dimension.needs != "frames" and getattr(clip, dimension.needs) is None:
        return f"it needs a {dimension.needs}"
    if len(clip.frames) < dimension.shortest:
        return f"it needs at least {dimension.shortest} frames"
    return ""


def _check(frames: Frames, reference: Picture | None) -> None:
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3 or not len(frames):
        raise ValueError(f"a video is (T, H, W, 3) uint8, got {frames.shape} {frames.dtype}")
    if reference is not None and (reference.dtype != np.uint8 or reference.ndim != 3 or reference.shape[2] != 3):
        raise ValueError(f"a reference picture is (H, W, 3) uint8, got {reference.shape} {reference.dtype}")
