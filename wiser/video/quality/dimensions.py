"""The eight dimensions: how each looks at a video, what it asks of its network, how its scores add up over videos."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from wiser.video.quality.backbones import Interpolation, PictureFeatures, PictureQuality, VideoAndText
from wiser.video.quality.formulas import agreement, consistency, faithfulness, mean_of_hundred, mean_of_ten, smoothness
from wiser.video.quality.views import Frames, Picture, View, middle_frames

BATCH = 8
"""Frames that a network is shown at a time."""
PROMPTED = 8
"""Frames that are compared with the prompt."""


@dataclass(frozen=True)
class Clip:
    """A video, and what it was to be."""

    frames: Frames
    reference: Picture | None = None
    """The picture that it was to go on from."""
    prompt: str | None = None


@dataclass(frozen=True)
class Dimension:
    """One of the eight."""

    measure: Callable[[Clip, Any], float]
    """Of a clip and the dimension's network."""
    needs: Literal["frames", "reference", "prompt"] = "frames"
    shortest: int = 1
    """Frames."""
    weighted: bool = False
    """Over videos every frame counts the same, instead of every video."""
    worst: float = 0.0
    best: float = 1.0
    """What VBench's leaderboard takes for 0 and 1."""

    def stretched(self, score: float) -> float:
        """A score as VBench's leaderboard has it."""
        return (score - self.worst) / (self.best - self.worst)


def _consistency(view: View) -> Callable[[Clip, PictureFeatures], float]:
    return lambda clip, network: consistency(_shown(clip.frames, view, network))


def _faithfulness(view: View) -> Callable[[Clip, PictureFeatures], float]:
    def measure(clip: Clip, network: PictureFeatures) -> float:
        assert clip.reference is not None
        reference = network(view.still(clip.reference)).cpu().float()  # (1, E)
        return faithfulness(reference, _shown(clip.frames, view, network))

    return measure


def _judged(view: View, mean: Callable[[Tensor], float]) -> Callable[[Clip, PictureQuality], float]:
    return lambda clip, network: mean(_shown(clip.frames, view, network))


def _smoothness(clip: Clip, network: Interpolation) -> float:
    """Every second frame is left out and interpolated; a video of even length has a last frame without a neighbour."""
    frames = torch.from_numpy(clip.frames).permute(0, 3, 1, 2).split(1)  # T of (1, 3, H, W)
    scores = []
    for before, truth, after in zip(frames[:-2:2], frames[1:-1:2], frames[2::2], strict=True):
        made = network(before / 255.0, after / 255.0).cpu().float() * 255.0
        scores.append(smoothness(truth.float(), made.clamp(0.0, 255.0).floor()))  # published: cut, not rounded
    return float(np.mean(scores))


def _agreement(view: View) -> Callable[[Clip, VideoAndText], float]:
    def measure(clip: Clip, network: VideoAndText) -> float:
        assert clip.prompt is not None
        chosen = clip.frames[middle_frames(len(clip.frames), PROMPTED)]  # (8, H, W, 3)
        return agreement(network.video(view(chosen)).cpu().float(), network.text(clip.prompt).cpu().float())

    return measure


def _shown(frames: Frames, view: View, network: PictureFeatures | PictureQuality) -> Tensor:
    """What a network says of each frame, (T, ...)."""
    parts = [frames[start : start + BATCH] for start in range(0, len(frames), BATCH)]
    return torch.cat([network(view(np.ascontiguousarray(part))).cpu().float() for part in parts])


SUBJECT = View(224, "shorter", "bilinear")
CLIP = View(224, "shorter", "bicubic", crop=224)
PROMPT = View(224, "shorter", "bicubic", crop=224, whole=True)
IMAGING = View(512, "longer", "bilinear")
I2V_SUBJECT = View(256, "shorter", "bicubic", antialias=True, crop=224)
I2V_BACKGROUND = View(224, "both", "bicubic", antialias=True)

DIMENSIONS: dict[str, Dimension] = {
    "subject_consistency": Dimension(_consistency(SUBJECT), shortest=2, weighted=True, worst=0.1462),
    "background_consistency": Dimension(_consistency(CLIP), shortest=2, weighted=True, worst=0.2615),
    "motion_smoothness": Dimension(_smoothness, shortest=3, worst=0.706, best=0.9975),
    "aesthetic_quality": Dimension(_judged(CLIP, mean_of_ten)),
    "imaging_quality": Dimension(_judged(IMAGING, mean_of_hundred)),
    "overall_consistency": Dimension(_agreement(PROMPT), "prompt", best=0.364),
    "i2v_subject": Dimension(_faithfulness(I2V_SUBJECT), "reference", shortest=2, worst=0.1462),
    "i2v_background": Dimension(_faithfulness(I2V_BACKGROUND), "reference", shortest=2, worst=0.2615),
}
"""By the names that PAI-Bench gives them."""
