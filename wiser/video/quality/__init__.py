"""How good a video is: PAI-Bench's eight dimensions, proxies of them that need no download, and true errors."""

from wiser.video.quality.backbones import Backbones, Interpolation, PictureFeatures, PictureQuality, VideoAndText
from wiser.video.quality.dimensions import DIMENSIONS
from wiser.video.quality.errors import continuation_errors
from wiser.video.quality.proxies import proxies
from wiser.video.quality.released import Weights, released
from wiser.video.quality.scoring import PROXY, Scores, over_videos, score

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
    "over_videos",
    "proxies",
    "released",
    "score",
]
