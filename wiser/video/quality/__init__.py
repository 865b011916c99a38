"""How good a video is: PAI-Bench's eight dimensions, proxies of them that need no download, and true errors."""

from wiser.video.quality.backbones import Backbones, Interpolation, PictureFeatures, PictureQuality, VideoAndText
from wiser.video.quality.dimensions import DIMENSIONS
from wiser.video.quality.errors import continuation_errors
from wiser.video.quality.released import Weights, load_released
from wiser.video.quality.scorers import pai, proxy
from wiser.video.quality.scoring import PROXY, Scores, over_videos, score
from wiser.video.quality.stand_ins import load_proxies

__all__ = [
    "DIMENSIONS",
    "PROXY",
    "Backbones",
    "Interpolation",
    "PictureFeatures",
    "PictureQuality",
    "Scores",
    "VideoAndText",
    "Weights",
    "continuation_errors",
    "load_proxies",
    "load_released",
    "over_videos",
    "pai",
    "proxy",
    "score",
]
